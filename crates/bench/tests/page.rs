//! The page of a run in Chromium. Nothing overlaps, and everything can be read, on a desktop and on
//! a phone, with light and dark colours.

mod sample;

#[allow(dead_code)]
#[path = "../../viewer/tests/support/browser.rs"]
mod browser;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use browser::Browser;
use serde_json::{json, Value};

/// The time limit that the module `browser` uses.
const TIMEOUT: Duration = Duration::from_secs(60);

fn unique(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("mgn-bench-{name}-{}-{number}", std::process::id())
}

const SCHEMES: [&str; 2] = ["light", "dark"];

/// Finds text in a plot that overlaps other text or leaves the plot.
const TANGLED: &str = "(() => {
    const found = [];
    for (const svg of document.querySelectorAll('svg.chart')) {
        const all = svg.getBoundingClientRect();
        if (all.width === 0) continue;
        const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
        for (const [words, box] of texts) {
            if (box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 1)
                found.push(`${svg.ariaLabel}: ${words} leaves it`);
        }
        texts.forEach(([words, a], at) => {
            for (const [others, b] of texts.slice(at + 1)) {
                const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (width > 1 && height > 1) found.push(`${svg.ariaLabel}: ${words} and ${others} overlap`);
            }
        });
    }
    return found;
})()";

/// Finds text whose contrast to its background is less than 4.5, and lines whose contrast is less
/// than 3.
const PALE: &str = "(() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = numbers(colour).slice(0, 3)
            .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if ((numbers(colour)[3] ?? 1) > 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const contrast = (colour, element) => {
        const [one, other] = [light(colour), light(behind(element))];
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    };
    const found = [];
    let looked = 0;
    for (const element of document.querySelectorAll('body *')) {
        if (!element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        if (element.matches('text')) {
            looked += 1;
            if (contrast(style.fill, element) < 4.5) found.push(element.textContent);
        } else if (element.matches('.line, .bar, .paper')) {
            const colour = style.stroke === 'none' ? style.fill : style.stroke;
            if (contrast(colour, element) < 3) found.push(`${element.outerHTML} ${colour}`);
        } else if (!element.closest('svg') && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) {
            looked += 1;
            if (contrast(style.color, element) < 4.5) found.push(element.textContent);
        }
    }
    return [looked, found];
})()";

#[test]
fn a_page_is_readable_at_a_desk_and_on_a_phone() {
    let Some(mut browser) = Browser::start(1280, 900) else {
        return;
    };
    let path = std::env::temp_dir().join(unique("page") + ".html");
    std::fs::write(&path, mgn_bench::report::page(&sample::record())).unwrap();
    for (width, is_phone) in [(1280, false), (360, true)] {
        for scheme in SCHEMES {
            browser.resize(width, 900, is_phone);
            browser.prefer(&[("prefers-color-scheme", scheme)]);
            browser.open(&format!("file://{}", path.display()));
            browser.until("document.readyState === 'complete' && document.querySelectorAll('svg.chart').length > 10");
            check(&mut browser, width);
            pictures(&mut browser, width, is_phone, scheme);
        }
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_page_in_the_documentation_is_readable() {
    let Some(mut browser) = Browser::start(1280, 900) else {
        return;
    };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench-run.html");
    let path = path.canonicalize().unwrap();
    for (width, is_phone) in [(1280, false), (360, true)] {
        browser.resize(width, 900, is_phone);
        browser.open(&format!("file://{}", path.display()));
        browser.until("document.readyState === 'complete' && document.querySelectorAll('svg.chart').length > 10");
        is_in_order(&mut browser, width);
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn texts_are_not_markup() {
    let page = mgn_bench::report::page(&sample::record());
    assert!(!page.contains("<script") && !page.contains("<b "));
    assert!(page.contains("&lt;script&gt;alert(2)"));
    for outside in ["src=", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let mut nothing = sample::record();
    nothing.outcomes.clear();
    assert!(mgn_bench::report::page(&nothing).contains("synthetic"));
}

/// Checks the page at this width: nothing is wider than the page, each plot is shown once, its
/// letters have nearly their intended size, and no text overlaps other text.
fn is_in_order(browser: &mut Browser, width: u32) {
    let all = browser.eval("document.documentElement.scrollWidth");
    assert!(all.as_f64() <= Some(f64::from(width)), "{all} of {width}");
    let twice = "[...document.querySelectorAll('.panel:has(svg.chart)')].filter((panel) =>
        [...panel.querySelectorAll('svg.chart')].filter((svg) => svg.getClientRects().length).length !== 1).length";
    assert_eq!(browser.eval(twice), 0);
    let scale = browser.eval(
        "Math.min(...[...document.querySelectorAll('svg.chart')].filter((svg) => svg.getClientRects().length)
            .map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))",
    );
    assert!(scale.as_f64() > Some(0.87), "{scale} at {width}");
    assert_eq!(browser.eval(TANGLED), json!([]));
}

fn check(browser: &mut Browser, width: u32) {
    is_in_order(browser, width);
    let shown =
        "[...document.querySelectorAll('svg.chart')].filter((svg) => svg.getClientRects().length)";
    let is_phone = width < 600;
    let class = if is_phone { "narrow" } else { "wide" };
    let all = browser.eval(&format!(
        "{shown}.length > 5 && {shown}.every((svg) => svg.classList.contains('{class}'))"
    ));
    assert_eq!(all, true);
    let pale = browser.eval(PALE);
    assert!(pale[0].as_u64().unwrap() > 300);
    assert_eq!(pale[1], json!([]));
    let nothing = "document.scripts.length + performance.getEntriesByType('resource').length + document.querySelectorAll('[onload]').length";
    assert_eq!(browser.eval(nothing), 0);
    let silent = "[...document.querySelectorAll('svg.chart')].filter((svg) => !svg.ariaLabel || svg.querySelector('title').textContent !== svg.ariaLabel).length";
    assert_eq!(browser.eval(silent), 0);
}

/// Saves pictures of the whole page, one screen at a time, if `MGN_SCREENSHOTS` is set.
fn pictures(browser: &mut Browser, width: u32, is_phone: bool, scheme: &str) {
    if std::env::var_os("MGN_SCREENSHOTS").is_none() {
        return;
    }
    let whole = browser.eval("document.documentElement.scrollHeight");
    let screen = if is_phone { 2400 } else { 1800 };
    browser.resize(width, screen, is_phone);
    let mut top = 0;
    while f64::from(top) < whole.as_f64().unwrap() {
        let _: Value = browser.eval(&format!("scrollTo(0, {top})"));
        browser.screenshot(&format!("page-{width}-{scheme}-{}", top / screen));
        top += screen;
    }
}
