//! The fuzz targets of this crate: what feeds and the viewer tell each other, and what pages say.

use std::time::Duration;

use mgn_fuzzing::Target;

use crate::message::{
    Ask, Counters, Figures, Form, FromFeed, Head, Opening, NAME_MAX, PIXELS_MAX, REDUCE_MAX,
};
use crate::watcher::FromPage;

pub const TARGETS: &[Target] = &[
    Target {
        name: "feed",
        feed,
        seeds: feed_seeds,
        runs: 50_000,
    },
    Target {
        name: "page",
        feed: page,
        seeds: || PAGES.iter().map(|text| text.as_bytes().to_vec()).collect(),
        runs: 5000,
    },
];

const PAGES: [&str; 2] = [r#"{"view":{"widths":[640,0],"quality":80}}"#, r#""taken""#];

fn feed(bytes: &[u8]) {
    match FromFeed::decode(bytes) {
        Ok(FromFeed::Picture(head, jpeg)) => {
            let (width, height) = head.size();
            assert!(u64::from(width) * u64::from(height) <= PIXELS_MAX);
            assert_eq!(FromFeed::Picture(head, jpeg).encode(), bytes);
        }
        // One word of it is not used.
        Ok(figures) => assert_eq!(FromFeed::decode(&figures.encode()), Ok(figures)),
        Err(_) => {}
    }
    if let Ok(opening) = Opening::decode(bytes) {
        assert!(opening.name.len() <= NAME_MAX);
        assert_eq!(opening.encode(), bytes);
    }
    if let Ok(ask) = Ask::decode(bytes) {
        assert!((1..=REDUCE_MAX).contains(&ask.form.reduce));
        assert_eq!(ask.encode()[..], *bytes);
    }
}

fn feed_seeds() -> Vec<Vec<u8>> {
    let form = Form {
        reduce: 2,
        quality: 70,
    };
    let head = Head {
        x: 3,
        y: 4,
        width: 33,
        height: 20,
        form,
        frame: 7,
        newest: 9,
    };
    let (width, height) = (17, 10);
    let pixels = vec![90; width * height * 4];
    let jpeg = mgn_present::jpeg(&pixels, width, height, 80).unwrap();
    let opening = Opening {
        tile: 5,
        name: "n".into(),
    };
    let ask = Ask {
        frame: 3,
        have: 2,
        form,
    };
    let figures = Figures {
        newest: 4,
        counters: Counters::default(),
        elapsed: Duration::from_secs(1),
    };
    vec![
        FromFeed::Picture(head, &jpeg).encode(),
        FromFeed::Figures(figures).encode(),
        opening.encode(),
        ask.encode().to_vec(),
    ]
}

fn page(bytes: &[u8]) {
    let _ = serde_json::from_slice::<FromPage>(bytes);
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
