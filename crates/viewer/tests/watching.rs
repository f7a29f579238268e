//! Feeds, viewer and watchers together, without a browser.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use mgn_fuzzing::Random;
use mgn_viewer::{Feed, FeedOptions, Viewer, ViewerOptions};
use mgn_wall::{Rect, Wall};
use support::{
    feed, open, options, parts, show, show_pixels, unique, viewer, Drawing, Shown, Watcher,
    COLOURS, PROTOCOL, TIMEOUT,
};
use tungstenite::Message;

fn pixel(shown: &Shown) -> [u8; 3] {
    let image = turbojpeg::decompress(&shown.jpeg, turbojpeg::PixelFormat::BGR).unwrap();
    let middle = image.height / 2 * image.pitch + image.width / 2 * 3;
    image.pixels[middle..middle + 3].try_into().unwrap()
}

fn is_like(pixel: [u8; 3], wanted: [u8; 3]) -> bool {
    let far = |(a, b): (&u8, &u8)| a.abs_diff(*b) > 12;
    !pixel.iter().zip(&wanted).any(far)
}

#[test]
fn tiles_come_together_and_in_their_colours() {
    let viewer = viewer(Wall::grid(2, 2).unwrap(), "together");
    let _drawing = Drawing::start(&viewer, &[0, 1, 2, 3], (64, 48));
    let mut watcher = Watcher::connect(&viewer);
    watcher.told(|said| {
        said["wall"]["tiles"]
            .as_array()
            .is_some_and(|t| t.len() == 4)
    });
    watcher.told(|said| {
        let tiles = said["tiles"].as_array();
        tiles.is_some_and(|tiles| tiles.iter().all(|tile| tile["health"] == "live"))
    });
    watcher.look(&[64; 4]);
    // The frames that the page shows. Feeds that have just come may be a few frames apart.
    let mut frames = [0; 4];
    for n in 0..30 {
        for shown in watcher.take() {
            assert!(shown.frame >= frames[shown.tile]);
            frames[shown.tile] = shown.frame;
            assert!(is_like(pixel(&shown), COLOURS[shown.tile]), "{n}");
        }
        assert!(n < 2 || frames == [frames[0]; 4], "{n}: {frames:?}");
    }
    assert!(frames[0] > 10);
    let told = watcher.told(|said| {
        let tiles = said["tiles"].as_array();
        tiles.is_some_and(|tiles| tiles.iter().all(|tile| tile["rates"].is_object()))
    });
    for (n, tile) in told["tiles"].as_array().unwrap().iter().enumerate() {
        assert_eq!(tile["server"], format!("server {n}"));
        assert!(tile["rates"]["frames"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn pictures_are_made_as_small_as_they_are_shown() {
    let viewer = viewer(Wall::grid(2, 1).unwrap(), "small");
    let mut feeds = [feed(&viewer, 0), feed(&viewer, 1)];
    for feed in &mut feeds {
        show(feed, COLOURS[1], (640, 400), 1);
    }
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[100, 0]);
    let width = |watcher: &mut Watcher, wanted: usize| loop {
        for shown in watcher.take() {
            assert_eq!(shown.size, (640, 400));
            assert_eq!(shown.tile, 0, "the page shows no other tile");
            let image = turbojpeg::read_header(&shown.jpeg).unwrap();
            if image.width == wanted {
                return;
            }
        }
    };
    // 640 / 6, rounded up: the smallest that is large enough.
    width(&mut watcher, 107);
    // Also if the picture does not change.
    watcher.look(&[640, 0]);
    width(&mut watcher, 640);
}

#[test]
fn the_newest_frame_of_a_program_that_stands_still_is_shown() {
    let viewer = viewer(Wall::grid(2, 1).unwrap(), "still");
    let mut feeds = [feed(&viewer, 0), feed(&viewer, 1)];
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[32, 32]);
    for frame in 1..=50 {
        for feed in &mut feeds {
            show(feed, COLOURS[frame as usize % 4], (32, 32), frame);
        }
    }
    let mut frames = [0, 0];
    while frames != [50, 50] {
        for shown in watcher.take() {
            frames[shown.tile] = shown.frame;
        }
    }
    // A page that comes later sees it, too.
    let mut late = Watcher::connect(&viewer);
    late.look(&[32, 32]);
    assert_eq!(late.take().len(), 2);
}

#[test]
fn a_lost_tile_leaves_the_others_alone() {
    let viewer = viewer(Wall::grid(2, 2).unwrap(), "lost");
    let drawing = Drawing::start(&viewer, &[0, 1, 3], (32, 32));
    let other = Drawing::start(&viewer, &[2], (32, 32));
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[32; 4]);
    let health = |of: &serde_json::Value| of["tiles"][2]["health"].as_str().map(str::to_owned);
    watcher.told(|said| health(said).as_deref() == Some("live"));
    drop(other);
    watcher.told(|said| health(said).as_deref() == Some("lost"));
    for _ in 0..5 {
        watcher.take();
    }
    let _again = Drawing::start(&viewer, &[2], (32, 32));
    watcher.told(|said| health(said).as_deref() == Some("live"));
    while !watcher.take().iter().any(|shown| shown.tile == 2) {}
    drop(drawing);
}

#[test]
fn a_watcher_that_reads_nothing_holds_up_nobody() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "stuck");
    let mut feed = feed(&viewer, 0);
    let mut stuck = Watcher::connect(&viewer);
    stuck.look(&[512]);
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[512]);
    // Noise, so that pictures are too large for sockets' buffers to take many of them.
    let pixels = Random::new(1).bytes(512 * 512 * 4);
    for frame in 1..30 {
        show_pixels(&mut feed, &pixels, Rect::new(0, 0, 512, 512), frame);
        while watcher.take()[0].frame < frame {}
    }
    // It gets what was under way for it, and no more.
    let mut got = 0;
    let mut newest = 0;
    while newest < 29 {
        newest = stuck.take()[0].frame;
        got += 1;
    }
    assert!(got <= 5, "{got}");
}

#[test]
fn a_watcher_that_never_draws_is_sent_away() {
    let viewer = Viewer::start(ViewerOptions {
        page_patience: Duration::from_millis(10),
        ..options(Wall::grid(1, 1).unwrap(), &unique("asleep"))
    })
    .unwrap();
    let _drawing = Drawing::start(&viewer, &[0], (16, 16));
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[16]);
    let why = loop {
        if let Message::Close(why) = watcher.socket.read().unwrap() {
            break why.unwrap();
        }
    };
    assert_eq!(u16::from(why.code), 4002);
}

#[test]
fn strangers_are_sent_away() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "strangers");
    let (host, token) = parts(&viewer);
    let port = host.rsplit_once(':').unwrap().1;
    let evil = format!("evil.example:{port}");
    for headers in [
        &[][..],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", &format!("http://{evil}")), ("host", &evil)],
    ] {
        assert!(open(&host, headers).is_err(), "{headers:?}");
    }
    let wrong = token.replace(&token[..1], if token.starts_with('a') { "b" } else { "a" });
    let origin = format!("http://{host}");
    for offered in [
        &*format!("{PROTOCOL}, {wrong}"),
        &format!("{PROTOCOL}, {}", &token[1..]),
        &format!("{PROTOCOL}, {token}0"),
        &format!("{token}, {PROTOCOL}"),
        PROTOCOL,
    ] {
        let headers = [("origin", &*origin), ("sec-websocket-protocol", offered)];
        if let Ok(mut socket) = open(&host, &headers) {
            let end = socket.read();
            assert!(matches!(&end, Ok(Message::Close(Some(why))) if u16::from(why.code) == 4001));
        }
    }
    assert!(open(&host, &[("origin", &origin)])
        .is_ok_and(|mut socket| matches!(socket.read(), Ok(Message::Close(_)))));
    // The same holds for a page that knows the token and then sends nonsense.
    for said in [
        "{\"view\":{\"widths\":[1,2],\"quality\":80}}",
        "{\"view\":{\"widths\":[99999],\"quality\":80}}",
        "{\"view\":{\"widths\":[1],\"quality\":0}}",
        "[]",
    ] {
        let mut watcher = Watcher::connect(&viewer);
        watcher.socket.send(Message::text(said)).unwrap();
        let end = loop {
            match watcher.socket.read() {
                Ok(Message::Close(frame)) => break frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => break None,
            }
        };
        assert_eq!(end, Some(4003u16), "{said}");
    }
}

#[test]
fn assets_are_served_to_their_own_page_only() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "assets");
    let (place, token) = parts(&viewer);
    let ask = |path: &str, host: &str| {
        let mut stream = TcpStream::connect(&place).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    for path in ["/", "/viewer.css", "/viewer.js", "/wall.js", "/panel.js"] {
        let text = ask(path, &place);
        assert!(text.starts_with("HTTP/1.1 200"), "{path}: {text}");
        assert!(text.contains("content-security-policy: default-src 'none'"));
        assert!(!text.contains(&token));
        assert!(ask(path, "evil.example").starts_with("HTTP/1.1 421"));
    }
    assert!(ask("/../Cargo.toml", &place).starts_with("HTTP/1.1 404"));
}

#[test]
fn feeds_by_tcp_need_the_token() {
    let token = mgn_fabric::Token::generate();
    let viewer = Viewer::start(ViewerOptions {
        access: Some(token.clone()).into(),
        ..options(Wall::grid(2, 1).unwrap(), "tcp:127.0.0.1:0")
    })
    .unwrap();
    let feed = |tile, token| {
        let mut feed = Feed::start(FeedOptions {
            viewer: viewer.feeds().clone(),
            token: Some(token),
            tile,
            name: "far".into(),
        });
        show(&mut feed, COLOURS[0], (16, 16), 1);
        feed
    };
    let _stranger = feed(0, mgn_fabric::Token::generate());
    let _nowhere = feed(7, token.clone());
    let _known = feed(1, token);
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[16, 16]);
    let shown = watcher.take();
    assert!(shown.len() == 1 && shown[0].tile == 1);
    let told = watcher.told(|said| said["tiles"].is_array());
    assert_eq!(told["tiles"][0]["health"], "waiting");
}

/// A client that may only have programs rendered cannot send pictures in the name of a server.
#[test]
fn a_client_cannot_pose_as_a_server() {
    use mgn_fabric::{connect, Access, Error, Role, Token, Transport};
    let client = Token::new("alice", Role::Client).unwrap();
    // A viewer that anybody may use, and one that only shows what this client runs.
    let access = || Access::from(Some(client.clone()));
    let [viewer, own] = [access(), access().with_callbacks()].map(|access| {
        Viewer::start(ViewerOptions {
            access,
            ..options(Wall::grid(1, 1).unwrap(), "tls:127.0.0.1:0")
        })
        .unwrap()
    });
    let opening = b"mgn feed\x01\0\0\0evil";
    let come = |viewer: &Viewer, token: &Token| {
        let joined = connect(
            viewer.feeds(),
            Transport::Tcp,
            Some(token),
            opening,
            TIMEOUT,
        );
        joined.map(drop)
    };
    for viewer in [&viewer, &own] {
        let error = come(viewer, &client).unwrap_err();
        assert!(
            matches!(&error, Error::Forbidden(why) if why.contains("alice")),
            "{error}"
        );
    }
    // Servers that the client has met know this token, but so does the client.
    let error = come(&viewer, &client.for_callback()).unwrap_err();
    assert!(matches!(&error, Error::Auth(_)), "{error}");
    come(&own, &client.for_callback()).unwrap();
}

#[test]
fn a_feed_whose_token_is_revoked_is_closed() {
    use mgn_fabric::{connect, Error, Role, Store, Token, Transport};
    let store = std::env::temp_dir().join(format!("mgn-viewer-tokens-{}", std::process::id()));
    let token = Token::new("gpu", Role::Server).unwrap();
    let _ = std::fs::remove_file(&store);
    Store::add(&store, &token).unwrap();
    let viewer = Viewer::start(ViewerOptions {
        access: Arc::new(Store::open(&store).unwrap()).into(),
        ..options(Wall::grid(1, 1).unwrap(), "tls:127.0.0.1:0")
    })
    .unwrap();
    let opening = b"mgn feed\x01\0\0\0gpu";
    let feeds = viewer.feeds();
    let (feed, _) = connect(feeds, Transport::Tcp, Some(&token), opening, TIMEOUT).unwrap();
    Store::revoke(&store, "gpu").unwrap();
    let (_sender, mut receiver) = feed.split();
    loop {
        match receiver.recv(Some(TIMEOUT)) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it was let stay"),
            Err(_) => break,
        }
    }
    let again = connect(feeds, Transport::Tcp, Some(&token), opening, TIMEOUT).map(drop);
    assert!(matches!(again, Err(Error::Auth(_))), "{again:?}");
    let _ = std::fs::remove_file(&store);
}

#[test]
fn a_feed_that_breaks_the_rules_is_sent_away() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "rules");
    let opening = b"mgn feed\x01\0\0\0evil".to_vec();
    let talk = |bytes: &[u8]| {
        let unix = mgn_fabric::Transport::Unix;
        let joined = mgn_fabric::connect(viewer.feeds(), unix, None, &opening, TIMEOUT);
        let (sender, mut receiver) = joined.unwrap().0.split();
        sender.send(bytes).unwrap();
        loop {
            match receiver.recv(Some(TIMEOUT)) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it was let stay"),
                Err(_) => break,
            }
        }
    };
    talk(b"");
    talk(&[9; 100]);
    // A correct picture that was not requested.
    let jpeg = turbojpeg::compress(
        turbojpeg::Image {
            pixels: &[0u8; 4 * 4 * 4][..],
            width: 4,
            pitch: 16,
            height: 4,
            format: turbojpeg::PixelFormat::BGRX,
        },
        80,
        turbojpeg::Subsamp::None,
    )
    .unwrap();
    let mut picture = Vec::new();
    for word in [1u32, 1, 80, 0, 0, 4, 4] {
        picture.extend(word.to_le_bytes());
    }
    for word in [1u64, 1] {
        picture.extend(word.to_le_bytes());
    }
    picture.extend(&*jpeg);
    talk(&picture);
    let wrong = [&b"mgn nope"[..], b"mgn feed\x01\0", b"mgn feed\x02\0\0\0"];
    for opening in wrong {
        let unix = mgn_fabric::Transport::Unix;
        let refused = mgn_fabric::connect(viewer.feeds(), unix, None, opening, TIMEOUT);
        assert!(matches!(refused, Err(mgn_fabric::Error::Refused(_))));
    }
}

#[test]
fn a_feed_finds_a_viewer_that_comes_later() {
    let address = unique("later");
    let mut feed = Feed::start(FeedOptions {
        viewer: address.parse().unwrap(),
        token: None,
        tile: 0,
        name: "early".into(),
    });
    show(&mut feed, COLOURS[2], (16, 16), 1);
    for _ in 0..2 {
        let viewer = Viewer::start(options(Wall::grid(1, 1).unwrap(), &address)).unwrap();
        let mut watcher = Watcher::connect(&viewer);
        watcher.look(&[16]);
        assert!(is_like(pixel(&watcher.take()[0]), COLOURS[2]));
    }
}
