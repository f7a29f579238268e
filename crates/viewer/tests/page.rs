//! The page in Chromium.

#[path = "support/browser.rs"]
mod browser;
mod support;

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use browser::{Browser, Screenshot};
use mgn_wall::{Fit, Rect, Tile, Wall};
use serde_json::json;
use support::{feed, parts, show_part, unique, viewer, Drawing, COLOURS, TIMEOUT};

/// 2 x 2 tiles with bezels between them.
fn wall() -> Wall {
    let names = ["north west", "north east", "south west", "south east"];
    let rect = |n: u32| Rect::new((n % 2) * 660, (n / 2) * 380, 640, 360);
    let tile = |n: u32| Tile::new(names[n as usize], rect(n));
    Wall {
        name: "Lab wall".into(),
        size: (1300, 740),
        fit: Fit::Scale,
        windows: Default::default(),
        tiling: Default::default(),
        genlock: false,
        tiles: (0..4).map(tile).collect(),
    }
}

const ALL_SHOWN: &str =
    "document.querySelectorAll('.tile[data-frame][data-health=live]').length === 4";

const ALL_TOLD: &str =
    "[...document.querySelectorAll('#servers .frames')].every((cell) => cell.textContent !== '–')";

/// Left, top, width and height of what a selector finds.
fn place(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let script = format!(
        "(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect();
            return [b.left, b.top, b.width, b.height]; }})()"
    );
    let found = browser.eval(&script);
    [0, 1, 2, 3].map(|n| found[n].as_f64().unwrap())
}

fn tile(n: usize) -> String {
    format!(".tile:nth-child({})", n + 1)
}

/// The colour at a share of the way through a place, as blue, green and red.
fn colour(picture: &Screenshot, [left, top, width, height]: [f64; 4], x: f64, y: f64) -> [u8; 3] {
    let [red, green, blue] =
        picture.pixel((left + width * x) as usize, (top + height * y) as usize);
    [blue, green, red]
}

#[track_caller]
fn assert_like(found: [u8; 3], wanted: [u8; 3]) {
    let near = found.iter().zip(&wanted).all(|(a, b)| a.abs_diff(*b) < 14);
    assert!(near, "{found:?} should be {wanted:?}");
}

#[test]
fn a_wall_is_shown_as_it_is_arranged() {
    let Some(mut browser) = Browser::start(1280, 800) else {
        return;
    };
    let viewer = viewer(wall(), "arranged");
    let _drawing = Drawing::start(&viewer, &[0, 1, 2, 3], (640, 360));
    browser.prefer(&[("prefers-reduced-motion", "reduce")]);
    browser.open(viewer.url());
    browser.until(ALL_SHOWN);
    browser.until(ALL_TOLD);
    let token = viewer.url().rsplit_once('=').unwrap().1;
    assert_eq!(browser.eval("location.hash"), "");
    let shown = browser.eval("document.documentElement.outerHTML");
    assert!(!shown.as_str().unwrap().contains(token));

    let picture = browser.screenshot("wall");
    let mural = place(&mut browser, "#mural");
    assert!(
        (mural[2] / mural[3] - 1300.0 / 740.0).abs() < 0.02,
        "{mural:?}"
    );
    for (n, wanted) in COLOURS.into_iter().enumerate() {
        let tile = place(&mut browser, &tile(n));
        for (x, y) in [(0.5, 0.5), (0.02, 0.03), (0.98, 0.97), (0.02, 0.97)] {
            assert_like(colour(&picture, tile, x, y), wanted);
        }
    }
    // The bezels.
    for (x, y) in [(0.5, 0.25), (0.25, 0.5), (0.5, 0.5)] {
        assert_like(colour(&picture, mural, x, y), [0x36, 0x2f, 0x2b]);
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);

    // The longer a server renders, the longer its bar.
    let mut bar = |n: usize| {
        place(
            &mut browser,
            &format!("#servers tr:nth-child({n}) .rendering"),
        )[2]
    };
    assert!(bar(1) > 0.0 && bar(4) > bar(1));

    keys(&mut browser);
    mouse(&mut browser);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

fn width(browser: &mut Browser) -> f64 {
    place(browser, "#mural")[2]
}

fn keys(browser: &mut Browser) {
    let whole = place(browser, "#mural");
    browser.key("+");
    let larger = width(browser);
    assert!((larger / whole[2] - 1.25).abs() < 0.01, "{larger}");
    browser.key("-");
    browser.key("-");
    assert!(width(browser) < whole[2]);
    browser.key("0");
    assert_eq!(place(browser, "#mural"), whole);
    browser.key("ArrowRight");
    assert!(place(browser, "#mural")[0] < whole[0]);
    browser.key("Escape");
    assert_eq!(place(browser, "#mural"), whole);

    // One tile: it fills the stage, and is asked for in all its detail.
    browser.key("2");
    let stage = place(browser, "#stage");
    let north_east = place(browser, &tile(1));
    assert!(
        (north_east[2] - (stage[2] - 16.0)).abs() < 2.0,
        "{north_east:?} in {stage:?}"
    );
    browser.until("document.querySelectorAll('.tile')[1].dataset.pixels === '640'");
    let picture = browser.screenshot("tile");
    assert_like(colour(&picture, stage, 0.5, 0.5), COLOURS[1]);
    browser.key("Escape");

    let focused = "document.activeElement.getAttribute('aria-label')";
    browser.eval("document.querySelector('#keys').focus()");
    browser.key("Tab");
    assert_eq!(browser.eval(focused), "Tile north west, live");
    browser.key("Tab");
    // The ring around it, and none around its neighbour.
    let picture = browser.screenshot("focus");
    let ring = |tile| colour(&picture, tile, 0.001, 0.5);
    assert_like(ring(place(browser, &tile(1))), [0xcc, 0x5f, 0]);
    assert_like(ring(place(browser, &tile(0))), COLOURS[0]);
    browser.key("Enter");
    assert_eq!(place(browser, &tile(1)), north_east);
    browser.key("Enter");
    assert_eq!(place(browser, "#mural"), whole);

    browser.key("?");
    assert_eq!(browser.eval("document.querySelector('#help').open"), true);
    browser.screenshot("help");
    browser.key("Escape");
    assert_eq!(browser.eval("document.querySelector('#help').open"), false);
    browser.key("s");
    assert!(place(browser, "#stage")[2] > stage[2]);
    browser.key("s");
}

fn mouse(browser: &mut Browser) {
    browser.key("0");
    let whole = place(browser, "#mural");
    let north_west = place(browser, &tile(0));
    let (x, y) = (north_west[0] + 100.0, north_west[1] + 100.0);
    browser.mouse("mouseWheel", x, y, json!({"deltaX": 0, "deltaY": -300}));
    browser.until(&format!(
        "document.querySelector('#mural').getBoundingClientRect().width > {}",
        whole[2] * 1.3
    ));
    // The point under the pointer stays there.
    let zoomed = place(browser, &tile(0));
    let share = |tile: [f64; 4]| (x - tile[0]) / tile[2];
    assert!((share(zoomed) - share(north_west)).abs() < 0.01);
    let button = json!({"button": "left", "buttons": 1, "clickCount": 1});
    browser.mouse("mousePressed", x, y, button.clone());
    browser.mouse("mouseMoved", x + 20.0, y, button.clone());
    browser.mouse("mouseMoved", x + 60.0, y + 30.0, button.clone());
    browser.mouse("mouseReleased", x + 60.0, y + 30.0, button.clone());
    let moved = place(browser, &tile(0));
    assert!(
        (moved[0] - zoomed[0] - 60.0).abs() < 2.0,
        "{moved:?} from {zoomed:?}"
    );
    assert_eq!(moved[2], zoomed[2], "the end of a drag is no click");
    browser.key("0");
    browser.mouse("mousePressed", x, y, button.clone());
    browser.mouse("mouseReleased", x, y, button);
    assert!(place(browser, &tile(0))[2] > north_west[2] * 1.5);
    browser.key("0");
}

#[test]
fn a_phone_shows_all_of_it() {
    let Some(mut browser) = Browser::start(390, 844) else {
        return;
    };
    let viewer = viewer(wall(), "phone");
    let _drawing = Drawing::start(&viewer, &[0, 1, 2, 3], (640, 360));
    browser.resize(390, 844, true);
    browser.prefer(&[
        ("prefers-color-scheme", "dark"),
        ("prefers-reduced-motion", "reduce"),
    ]);
    browser.open(viewer.url());
    browser.until(ALL_SHOWN);
    browser.until(ALL_TOLD);
    assert_eq!(browser.eval("innerWidth"), 390);
    assert_eq!(browser.eval("document.documentElement.scrollWidth"), 390);
    let overflowing =
        "[...document.querySelectorAll('body > *, header *, aside *')].filter((e) => \
                       e.getBoundingClientRect().right > 390).map((e) => e.outerHTML)";
    assert_eq!(browser.eval(overflowing), json!([]));
    let picture = browser.screenshot("phone");
    for (n, wanted) in COLOURS.into_iter().enumerate() {
        let tile = place(&mut browser, &tile(n));
        assert_like(colour(&picture, tile, 0.5, 0.5), wanted);
    }
    // Two fingers that move apart.
    let before = width(&mut browser);
    let [left, top, wide, high] = place(&mut browser, "#stage");
    let (x, y) = (left + wide / 2.0, top + high / 2.0);
    browser.touch("touchStart", &[(x - 30.0, y), (x + 30.0, y)]);
    for apart in [40.0, 50.0, 60.0] {
        browser.touch("touchMove", &[(x - apart, y), (x + apart, y)]);
    }
    browser.touch("touchEnd", &[]);
    let after = width(&mut browser);
    assert!((after / before - 2.0).abs() < 0.1, "{before} {after}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn losses_are_shown_and_mended() {
    let Some(mut browser) = Browser::start(1000, 700) else {
        return;
    };
    let first = viewer(Wall::grid(2, 2).unwrap(), "losses");
    let drawing = Drawing::start(&first, &[0, 1, 2, 3], (320, 240));
    browser.open(first.url());
    browser.until(ALL_SHOWN);
    // A grid has the shape that its pictures tell.
    let mural = place(&mut browser, "#mural");
    assert!((mural[2] / mural[3] - 4.0 / 3.0).abs() < 0.02, "{mural:?}");
    drop(drawing);
    let some = Drawing::start(&first, &[0, 1, 3], (320, 240));
    browser.until(
        "document.querySelectorAll('.tile')[2].dataset.health === 'lost' && \
         document.querySelectorAll('.tile[data-health=live]').length === 3",
    );
    let label = "document.querySelectorAll('.tile')[2].innerText";
    assert_eq!(browser.eval(label), "0,1: server lost");
    let picture = browser.screenshot("lost");
    let lost = place(&mut browser, &tile(2));
    let hatched: Vec<[u8; 3]> = (10..60)
        .map(|n| colour(&picture, lost, f64::from(n) / 200.0, 0.2))
        .collect();
    for wanted in [[0x55, 0x4b, 0x45], [0x35, 0x2e, 0x2a]] {
        let like = |found: &[u8; 3]| found.iter().zip(&wanted).all(|(a, b)| a.abs_diff(*b) < 6);
        assert!(hatched.iter().any(like), "{hatched:?}");
    }
    drop(some);
    browser.until("document.querySelector('#state').dataset.state === 'ended'");
    let notice = browser.eval("document.querySelector('#notice').innerText");
    assert!(notice
        .as_str()
        .unwrap()
        .starts_with("The program has ended"));
    browser.screenshot("ended");
    let next = Drawing::start(&first, &[0, 1, 2, 3], (320, 240));
    browser.until("document.querySelector('#state').dataset.state === 'live'");
    browser.until(ALL_SHOWN);
    let hidden = browser.eval("document.querySelector('#notice').hidden");
    assert_eq!(hidden, true);
    drop(next);
    drop(first);
    browser.until("document.querySelector('#state')?.dataset.state === 'lost'");
    browser.screenshot("gone");
    browser.complaints.clear();

    // A page that is given a wrong token says so.
    let second = viewer(Wall::grid(2, 2).unwrap(), "second");
    let (url, _) = second.url().split_once('=').unwrap();
    browser.open(&format!("{url}=0123"));
    browser.until("document.querySelector('#state')?.textContent === 'Refused'");
    browser.open("about:blank");
    browser.open(url.split('#').next().unwrap());
    browser.until("document.querySelector('#state')?.textContent === 'Refused'");
}

#[test]
fn a_window_is_shown_pixel_on_pixel_where_the_wall_wants_it_so() {
    let Some(mut browser) = Browser::start(1000, 600) else {
        return;
    };
    let rects = [Rect::new(0, 0, 200, 100), Rect::new(220, 0, 200, 100)];
    let tile_at = |(n, rect): (usize, Rect)| Tile::new(n.to_string(), rect);
    let viewer = viewer(
        Wall {
            name: "pixels".into(),
            size: (420, 100),
            fit: Fit::OneToOne,
            windows: Default::default(),
            tiling: Default::default(),
            genlock: false,
            tiles: rects.into_iter().enumerate().map(tile_at).collect(),
        },
        "pixels",
    );
    // The window ends in the middle of the second tile.
    let mut feeds = [feed(&viewer, 0), feed(&viewer, 1)];
    show_part(&mut feeds[0], COLOURS[0], rects[0], 1);
    show_part(&mut feeds[1], COLOURS[1], Rect::new(220, 0, 100, 50), 1);
    browser.open(viewer.url());
    browser.until("document.querySelectorAll('.tile[data-frame][data-health=live]').length === 2");
    let picture = browser.screenshot("pixels");
    let first = place(&mut browser, &tile(0));
    assert_like(colour(&picture, first, 0.95, 0.95), COLOURS[0]);
    let second = place(&mut browser, &tile(1));
    assert_like(colour(&picture, second, 0.02, 0.04), COLOURS[1]);
    assert_like(colour(&picture, second, 0.48, 0.46), COLOURS[1]);
    assert_like(colour(&picture, second, 0.52, 0.25), [0; 3]);
    assert_like(colour(&picture, second, 0.25, 0.54), [0; 3]);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Passes connections on to the viewer until it is told to break them.
struct Network {
    place: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Network {
    fn start(viewer: String) -> Network {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let all = open.clone();
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&viewer) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                all.lock().unwrap().extend([near, far]);
            }
        });
        Network { place, open }
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_page_that_has_lost_the_viewer_connects_again() {
    let Some(mut browser) = Browser::start(800, 600) else {
        return;
    };
    let viewer = viewer(Wall::grid(2, 2).unwrap(), "again");
    let _drawing = Drawing::start(&viewer, &[0, 1, 2, 3], (64, 48));
    let (place, token) = parts(&viewer);
    let network = Network::start(place);
    browser.open(&format!("http://{}/#token={token}", network.place));
    browser.until(ALL_SHOWN);
    for _ in 0..2 {
        browser.eval(
            "window.states = []; new MutationObserver(() => states.push(document.querySelector('#state')\
             .dataset.state)).observe(document.querySelector('#state'), {attributes: true}); 0",
        );
        network.cut();
        browser.until("states.includes('lost') && states.at(-1) === 'live'");
        let frame = "Number(document.querySelector('.tile').dataset.frame)";
        let before = browser.eval(frame);
        browser.until(&format!("{frame} > {before}"));
    }
    // Also when the page is reloaded, now without the token in its address.
    browser.open("about:blank");
    browser.open(&format!("http://{}/", network.place));
    browser.until(ALL_SHOWN);
}
