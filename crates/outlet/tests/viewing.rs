//! Pictures of an outlet, as a page of the viewer gets them.

#[path = "../../viewer/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use mgn_composite::Color;
use mgn_outlet::{Direction, Outlet, OutletError, Shot};
use mgn_wall::Wall;
use support::{unique, viewer, Shown, Watcher};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);
const RED: [u8; 4] = [230, 20, 20, 255];
const BLUE: [u8; 4] = [20, 20, 230, 255];

/// A picture whose first rows in memory have one colour, and the others another one.
fn halves(width: usize, height: usize, [first, second]: [[u8; 4]; 2]) -> Vec<u8> {
    let half = width * height / 2;
    let pixels = (0..width * height).flat_map(|n| if n < half { first } else { second });
    pixels.collect()
}

fn show(outlet: &mut Outlet, width: usize, height: usize, direction: Direction) {
    let pixels = halves(width, height, [RED, BLUE]);
    let shot = Shot {
        width,
        height,
        color: Color::Rgba8,
        direction,
        pixels: &pixels,
    };
    outlet.show(&shot).unwrap();
}

/// The colours in the middle of the upper and of the lower half.
fn colours(shown: &Shown) -> [[u8; 3]; 2] {
    let image = turbojpeg::decompress(&shown.jpeg, turbojpeg::PixelFormat::RGB).unwrap();
    [1, 3].map(|quarter| {
        let at = image.height * quarter / 4 * image.pitch + image.width / 2 * 3;
        image.pixels[at..at + 3].try_into().unwrap()
    })
}

fn are_like(found: [[u8; 3]; 2], wanted: [[u8; 4]; 2]) -> bool {
    let both = found
        .iter()
        .flatten()
        .zip(wanted.iter().flat_map(|w| &w[..3]));
    both.into_iter().all(|(a, b)| a.abs_diff(*b) < 16)
}

/// Waits until `is_it` holds for a picture.
fn until(watcher: &mut Watcher, what: &str, is_it: impl Fn(&Shown) -> bool) {
    let start = Instant::now();
    while !watcher.take().iter().any(&is_it) {
        assert!(start.elapsed() < RUN_TIMEOUT, "it does not come: {what}");
    }
}

#[test]
fn pictures_are_seen_as_they_are() {
    let viewer = viewer(Wall::grid(2, 1).unwrap(), "outlet");
    let address = viewer.feeds().to_string();
    let mut outlets = [0, 1].map(|tile| Outlet::viewer(Some(&address), None, tile).unwrap());
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[160, 160]);
    let [one, other] = &mut outlets;
    show(one, 160, 80, Direction::TopDown);
    show(other, 120, 60, Direction::BottomUp);
    until(&mut watcher, "tile 0", |shown| {
        shown.tile == 0 && shown.size == (160, 80) && are_like(colours(shown), [RED, BLUE])
    });
    // It may have come with the other one, so it must be shown again.
    show(one, 160, 80, Direction::TopDown);
    show(other, 120, 60, Direction::BottomUp);
    until(&mut watcher, "tile 1", |shown| {
        shown.tile == 1 && shown.size == (120, 60) && are_like(colours(shown), [BLUE, RED])
    });
    // Pictures of another size.
    show(one, 64, 200, Direction::BottomUp);
    show(other, 120, 60, Direction::BottomUp);
    until(&mut watcher, "a larger one", |shown| {
        shown.size == (64, 200) && are_like(colours(shown), [BLUE, RED])
    });
    assert!(!one.is_closed());
    let told = watcher.told(|said| said["tiles"][0]["rates"].is_object());
    assert!(told["tiles"][0]["server"].is_string(), "{told}");
}

#[test]
fn mistakes_are_explained() {
    let wrong = Outlet::viewer(Some("nowhere"), None, 0).unwrap_err();
    assert!(matches!(wrong, OutletError::Address(_)) && wrong.is_of_call());
    let missing = Path::new("/nonexistent/token");
    let wrong = Outlet::viewer(Some("tls:localhost:9"), Some(missing), 0).unwrap_err();
    assert!(wrong.to_string().contains("/nonexistent/token"), "{wrong}");
    // Pictures are taken without a viewer.
    let nobody = unique("outlet-nobody");
    let mut outlet = Outlet::viewer(Some(&nobody), None, 0).unwrap();
    show(&mut outlet, 8, 8, Direction::TopDown);
    let wide = Shot {
        width: 16_385,
        height: 1,
        color: Color::Rgba8,
        direction: Direction::TopDown,
        pixels: &[0; 16_385 * 4],
    };
    let wrong = outlet.show(&wide).unwrap_err();
    assert!(matches!(wrong, OutletError::Size { max: 16_384, .. }));
    show(&mut outlet, 8, 8, Direction::TopDown);
}

/// A wall of one tile has no second one.
#[test]
fn a_viewer_that_refuses_is_an_error() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "outlet-refused");
    let address = viewer.feeds().to_string();
    let mut outlet = Outlet::viewer(Some(&address), None, 7).unwrap();
    let pixels = halves(8, 8, [RED, BLUE]);
    let shot = Shot {
        width: 8,
        height: 8,
        color: Color::Rgba8,
        direction: Direction::TopDown,
        pixels: &pixels,
    };
    let start = Instant::now();
    let wrong = loop {
        match outlet.show(&shot) {
            Ok(()) => assert!(start.elapsed() < RUN_TIMEOUT, "it is not refused"),
            Err(error) => break error,
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(matches!(&wrong, OutletError::Viewer { .. }), "{wrong}");
    assert!(matches!(outlet.show(&shot), Err(OutletError::Failed(_))));
}
