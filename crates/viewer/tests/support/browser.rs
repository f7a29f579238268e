//! Chromium without a screen, driven over the DevTools protocol.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{json, Value};
use tungstenite::{Message, WebSocket};

use super::{unique, TIMEOUT};

pub struct Browser {
    process: Child,
    folder: PathBuf,
    socket: WebSocket<TcpStream>,
    session: Value,
    next: u64,
    /// Errors from scripts and violations of the page's security policy.
    pub complaints: Vec<String>,
}

/// Rows of red, green and blue.
pub struct Screenshot {
    pub width: usize,
    pixels: Vec<u8>,
    channels: usize,
}

impl Browser {
    /// None, with a message, if there is no Chromium, unless `MGN_NEED_CHROMIUM` is set.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        let folder = std::env::temp_dir().join(unique("browser").replace("unix:@", ""));
        let start = |name: &&str| {
            Command::new(name)
                .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
                .args([
                    "--remote-debugging-port=0",
                    "--no-first-run",
                    "--mute-audio",
                ])
                .args(["--disable-background-networking", "--disable-dev-shm-usage"])
                .arg(format!("--user-data-dir={}", folder.display()))
                .arg("about:blank")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .ok()
        };
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let Some(mut process) = names.iter().find_map(start) else {
            let why = "there is no Chromium to look at the page with";
            assert!(std::env::var_os("MGN_NEED_CHROMIUM").is_none(), "{why}");
            eprintln!("SKIPPED: {why}");
            return None;
        };
        let mut said = BufReader::new(process.stderr.take().unwrap());
        let url = loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "Chromium has ended");
            if let Some(url) = line.trim().strip_prefix("DevTools listening on ") {
                break url.to_owned();
            }
        };
        // A pipe that is not read would block it.
        thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let place = url
            .strip_prefix("ws://")
            .unwrap()
            .split('/')
            .next()
            .unwrap();
        let stream = TcpStream::connect(place).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let (socket, _) = tungstenite::client::client(&url, stream).unwrap();
        let mut browser = Browser {
            process,
            folder,
            socket,
            session: Value::Null,
            next: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(width, height, false);
        Some(browser)
    }

    pub fn resize(&mut self, width: u32, height: u32, phone: bool) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let touch = json!({"enabled": phone, "maxTouchPoints": 2});
        self.call("Emulation.setTouchEmulationEnabled", touch);
    }

    /// As a person prefers it: `prefers-color-scheme` and the like.
    pub fn prefer(&mut self, features: &[(&str, &str)]) {
        let features: Vec<Value> = features
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    pub fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url}));
    }

    /// The value of an expression.
    pub fn eval(&mut self, script: &str) -> Value {
        let ask = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", ask);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&mut self, script: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while self.eval(script) != Value::Bool(true) {
            if Instant::now() > deadline {
                let page = self.eval("document.body?.innerText");
                panic!(
                    "{script} did not become true: {page}; {:?}",
                    self.complaints
                );
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key by its name, `+` or `Escape`.
    pub fn key(&mut self, key: &str) {
        let mut press = json!({"type": "keyDown", "key": key});
        if key.len() == 1 || key == "Enter" {
            press["text"] = json!(if key == "Enter" { "\r" } else { key });
        }
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        press["windowsVirtualKeyCode"] = json!(code);
        self.call("Input.dispatchKeyEvent", press);
        let release = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", release);
    }

    pub fn mouse(&mut self, kind: &str, x: f64, y: f64, more: Value) {
        let mut event = json!({"type": kind, "x": x, "y": y});
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Puts fingers where `points` are; none lifts them.
    pub fn touch(&mut self, kind: &str, points: &[(f64, f64)]) {
        let points: Vec<Value> = points
            .iter()
            .map(|(x, y)| json!({"x": x, "y": y}))
            .collect();
        self.call(
            "Input.dispatchTouchEvent",
            json!({"type": kind, "touchPoints": points}),
        );
    }

    /// A picture of the screen. It is kept in the folder that `MGN_SCREENSHOTS` names, if any.
    pub fn screenshot(&mut self, name: &str) -> Screenshot {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let text = answer["data"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .unwrap();
        if let Some(folder) = std::env::var_os("MGN_SCREENSHOTS") {
            std::fs::write(PathBuf::from(folder).join(format!("{name}.png")), &bytes).unwrap();
        }
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        Screenshot {
            width: info.width as usize,
            pixels,
            channels: info.color_type.samples(),
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut ask = json!({"id": id, "method": method, "params": params});
        if !self.session.is_null() {
            ask["sessionId"] = self.session.clone();
        }
        self.socket.send(Message::text(ask.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else {
                continue;
            };
            let said: Value = serde_json::from_str(&text).unwrap();
            if said["id"] == id {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].clone();
            }
            self.note(&said);
        }
    }

    fn note(&mut self, said: &Value) {
        let params = &said["params"];
        let is_complaint = match said["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => {
                params["type"] == "error" || params["type"] == "warning"
            }
            Some("Log.entryAdded") => params["entry"]["level"] == "error",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(params.to_string());
        }
    }
}

impl Drop for Browser {
    /// Its helpers end a little later than Chromium itself, and write until then.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(10));
            let _ = std::fs::remove_dir_all(&self.folder);
            if !self.folder.exists() {
                return;
            }
        }
    }
}

impl Screenshot {
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = (y * self.width + x) * self.channels;
        self.pixels[at..at + 3].try_into().unwrap()
    }
}
