//! A server in a process of its own, and a client in miniature. Each test uses a part of it.

use mgn_fabric::{
    connect, Address, Connection, Error, Message, Receiver, Sender, Store, Token, Transport,
};
use mgn_server::{Options, Sandbox, WorkerCommand};
use mgn_spu::Chain;
use mgn_wall::Wall;
use mgn_wire::draws::attr;
use mgn_wire::encoder::Data;
use mgn_wire::frames::{Header, Kind, HEADER};
use mgn_wire::hello::{
    self, api, Color, Config, Created, Hello, Role, SharedWindow, Shown, Welcome,
};
use mgn_wire::{gl::*, ops, Answer, Encoder, End, Plain, CHUNK, MESSAGE_HEADER};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// The tests that become the server under test, and its workers. They are started by name.
macro_rules! processes {
    () => {
        #[test]
        #[ignore = "started by the server under test"]
        fn worker_process() {
            support::be_worker();
        }

        #[test]
        #[ignore = "started by the tests"]
        fn server_process() {
            support::be_server();
        }
    };
}

/// Becomes a worker; the server under test starts it so.
pub fn be_worker() {
    mgn_server::worker().expect("a worker");
}

/// Becomes the server that the environment describes.
pub fn be_server() {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        .init();
    let get = |name: &str| std::env::var(name).ok();
    let number = |name: &str, or: u64| get(name).map_or(or, |n| n.parse().expect("a number"));
    let chain = get("TEST_SPU").unwrap_or_default();
    let stages = chain.split_whitespace();
    let stages = stages.map(|stage| stage.parse().expect("a stage"));
    let options = Options {
        listen: vec![get("TEST_LISTEN")
            .expect("an address")
            .parse()
            .expect("an address")],
        inherited: Vec::new(),
        access: match get("TEST_STORE") {
            Some(store) => Arc::new(Store::open(store.as_ref()).expect("a store")).into(),
            None => get("TEST_TOKEN").map(|text| token(&text)).into(),
        },
        token: None,
        chain: Chain::new(stages.collect()).expect("a chain"),
        max_sessions: number("TEST_SESSIONS", 64) as usize,
        max_sessions_per_client: get("TEST_PER_CLIENT").map(|n| n.parse().expect("a number")),
        max_sessions_per_token: get("TEST_PER_TOKEN").map(|n| n.parse().expect("a number")),
        present: Vec::new(),
        memory_limit: number("TEST_MEMORY", 8 << 30),
        memory_total: number("TEST_MEMORY_TOTAL", 64 << 30),
        idle_timeout: get("TEST_IDLE").map(|s| Duration::from_secs(s.parse().expect("seconds"))),
        watchdog: Duration::from_secs(number("TEST_WATCHDOG", 30)),
        sandbox: match get("TEST_SANDBOX").as_deref() {
            None => Sandbox::Possible,
            Some("off") => Sandbox::Off,
            Some(_) => Sandbox::Required,
        },
        spirv: get("TEST_SPIRV").is_some(),
        end_with_stdin: true,
        once: get("TEST_ONCE").is_some(),
        announce: true,
        follower: None,
        worker: this_test("worker_process"),
    };
    if let Err(error) = mgn_server::run(options) {
        eprintln!("server: {error}");
        std::process::exit(1);
    }
}

fn this_test(name: &str) -> WorkerCommand {
    WorkerCommand {
        program: std::env::current_exe().expect("a path"),
        arguments: [name, "--exact", "--ignored", "--nocapture"]
            .map(Into::into)
            .to_vec(),
    }
}

/// Makes an EGL library of this source in a folder for `LD_LIBRARY_PATH`. The functions that it
/// does not define come from the system's library. It depends on that one by its path, `REAL`,
/// because both have the same name.
fn replace_egl(folder: &Path, source: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("egl.c"), source).unwrap();
    let cc = || {
        let mut cc = Command::new("cc");
        cc.current_dir(folder);
        cc
    };
    let found = cc().arg("-print-file-name=libEGL.so.1").output().unwrap();
    let real = String::from_utf8(found.stdout).unwrap();
    let real = fs::canonicalize(real.trim()).expect("the system's libEGL.so.1");
    let real = real.display();
    let named = format!("-Wl,-soname,{real}");
    let stub = ["-shared", "-x", "c", "/dev/null", "-o", "stub.so", &named];
    assert!(cc().args(stub).status().unwrap().success());
    let real = format!("-DREAL=\"{real}\"");
    let library = ["-shared", "-fPIC", "-o", "libEGL.so.1", &real, "egl.c"];
    let needs = ["-Wl,--no-as-needed", "stub.so"];
    assert!(cc().args(library).args(needs).status().unwrap().success());
}

/// Whether the system lacks parts of the sandbox, so that a test of it is skipped.
#[allow(dead_code)]
pub fn lacks_sandbox() -> bool {
    let parts = mgn_server::sandbox_parts();
    if let Err(why) = &parts {
        println!("SKIPPED: {why}");
    }
    parts.is_err()
}

#[allow(dead_code)]
pub fn works(client: &mut Client) {
    client.draw_triangle();
    assert_eq!(client.swap(1).1.len(), 64 * 48 * 4);
}

pub struct Server {
    pub child: Child,
    pub address: Address,
    pub token: Option<Token>,
    pub folder: PathBuf,
}

/// A token of all roles from its digits, or of one role from its text.
fn token(text: &str) -> Token {
    Token::from_text(text).unwrap_or_else(|_| text.parse().expect("a token"))
}

pub const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

impl Server {
    #[allow(dead_code)]
    pub fn start(tcp: bool, settings: &[(&str, &str)]) -> Server {
        Server::try_start(tcp, settings).expect("a server that listens")
    }

    #[allow(dead_code)]
    pub fn try_start(tcp: bool, settings: &[(&str, &str)]) -> Result<Server, String> {
        Server::launch(tcp, settings, None)
    }

    /// A server at a unix socket whose workers use an EGL library of this source.
    #[allow(dead_code)]
    pub fn with_egl(source: &str, settings: &[(&str, &str)]) -> Result<Server, String> {
        Server::launch(false, settings, Some(source))
    }

    fn launch(tcp: bool, settings: &[(&str, &str)], egl: Option<&str>) -> Result<Server, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("mgn-server-test-{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let listen = if tcp {
            "tcp:127.0.0.1:0".into()
        } else {
            format!("unix:{}/socket", folder.display())
        };
        let log = fs::File::create(folder.join("log")).expect("a file");
        let command = this_test("server_process");
        let mut builder = Command::new(command.program);
        builder
            .args(command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        builder
            .env("TEST_LISTEN", &listen)
            .env("XDG_STATE_HOME", &folder)
            .envs(settings.iter().copied());
        if tcp {
            builder.env("TEST_TOKEN", TOKEN);
        }
        if let Some(source) = egl {
            replace_egl(&folder.join("egl"), source);
            builder.env("LD_LIBRARY_PATH", folder.join("egl"));
        }
        builder.envs(settings.iter().copied());
        let mut child = builder.spawn().expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = lines.find_map(|l| l.ok()?.strip_prefix("listening on ")?.parse().ok());
        std::thread::spawn(move || lines.for_each(drop));
        let token = tcp.then(|| TOKEN.parse().expect("a token"));
        let mut server = Server {
            child,
            address: Address::Abstract("nowhere".into()),
            token,
            folder,
        };
        match address {
            Some(address) => server.address = address,
            None => return Err(server.log()),
        }
        Ok(server)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).expect("a log")
    }

    #[allow(dead_code)]
    /// Waits until the log contains `text`.
    pub fn expect_log(&self, text: &str) {
        wait_until(text, || self.log().contains(text));
    }

    pub fn connect(
        &self,
        transport: Transport,
        opening: &[u8],
    ) -> Result<(Connection, Vec<u8>), Error> {
        connect(
            &self.address,
            transport,
            self.token.as_ref(),
            opening,
            WAIT_TIMEOUT,
        )
    }

    pub fn client(&self, transport: Transport) -> Client {
        self.try_client(transport).expect("a session")
    }

    pub fn try_client(&self, transport: Transport) -> Result<Client, Error> {
        self.client_of(transport, None, None, None)
    }

    /// A client whose pictures the server shall show as a tile of a wall.
    #[allow(dead_code)]
    pub fn client_that_is_shown(
        &self,
        transport: Transport,
        shown: Option<Wall>,
    ) -> Result<Client, Error> {
        self.client_of(transport, shown, None, None)
    }

    /// A client that draws into a window with others.
    #[allow(dead_code)]
    pub fn client_of_window(&self, window: SharedWindow) -> Result<Client, Error> {
        self.client_of(Transport::Shm, None, Some(window), None)
    }

    /// The same at the renderer of a tile of a wall.
    #[allow(dead_code)]
    pub fn client_of_tile(&self, window: SharedWindow, tile: u32) -> Result<Client, Error> {
        self.client_of(Transport::Shm, None, Some(window), Some(tile))
    }

    fn client_of(
        &self,
        transport: Transport,
        shown: Option<Wall>,
        window: Option<SharedWindow>,
        tile: Option<u32>,
    ) -> Result<Client, Error> {
        let (commands, welcome) = self.connect(
            transport.clone(),
            &opening(Role::Session {
                program: "test\x1b[31m".into(),
                pid: std::process::id(),
                tile,
                shown: shown.map(|wall| Shown { wall, tile: 0 }),
                window,
            }),
        )?;
        let welcome: Welcome = postcard::from_bytes(&welcome).expect("a welcome");
        let (frames, _) = self.connect(
            transport,
            &opening(Role::Frames {
                session: welcome.session,
                key: welcome.key,
            }),
        )?;
        let (sender, answers) = commands.split();
        let (frames_sender, frames) = frames.split();
        Ok(Client {
            sender,
            answers,
            frames,
            frames_sender,
            welcome,
        })
    }

    /// The process ids of its workers.
    #[allow(dead_code)]
    pub fn workers(&self) -> Vec<i32> {
        let path = format!("/proc/{0}/task/{0}/children", self.child.id());
        let all = fs::read_dir(format!("/proc/{}/task", self.child.id())).map(|tasks| {
            tasks
                .flatten()
                .filter_map(|t| fs::read_to_string(t.path().join("children")).ok())
                .collect::<Vec<_>>()
                .join(" ")
        });
        let all = all
            .or_else(|_| fs::read_to_string(path))
            .unwrap_or_default();
        all.split_whitespace()
            .filter_map(|p| p.parse().ok())
            .collect()
    }

    #[allow(dead_code)]
    pub fn signal(&self, signal: i32) {
        // SAFETY: signals a child of this process that has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.child.try_wait().is_ok_and(|s| s.is_none()) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", self.log());
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub fn opening(role: Role) -> Vec<u8> {
    let hello = Hello {
        version: hello::VERSION,
        table_hash: ops::TABLE_HASH,
        role,
    };
    postcard::to_allocvec(&hello).expect("bytes")
}

#[allow(dead_code)]
pub struct Client {
    pub sender: Sender,
    pub answers: Receiver,
    pub frames: Receiver,
    pub frames_sender: Sender,
    pub welcome: Welcome,
}

pub const CONFIG: u32 = Config::new(Color::Rgb8, 8, 24, 8, 0).id;

impl Client {
    /// Makes context 1 and surface 1, 64 x 48, current.
    pub fn set_up(&mut self) {
        self.encode(0, |e| {
            e.mgn_create_context(1, api::COMPAT, 0, 0, 0, CONFIG, 0, 1 << 20);
            e.mgn_create_surface(1, 0, CONFIG, 64, 48);
        });
        let created: Created = postcard::from_bytes(&self.answer_array::<u8>()).expect("an answer");
        assert!(matches!(created, Created::Context(_)), "{created:?}");
        self.encode(1, |e| e.mgn_make_current(1, 1));
    }

    pub fn encode(&self, context: u32, commands: impl FnOnce(&mut Encoder)) {
        self.try_encode(context, commands)
            .expect("a server that listens");
    }

    pub fn try_encode(
        &self,
        context: u32,
        commands: impl FnOnce(&mut Encoder),
    ) -> Result<(), Error> {
        self.sender.send(&message(context, commands))
    }

    pub fn draw_triangle(&self) {
        let mut vertices = Vec::new();
        for row in [
            [1.0f32, 0.0, 0.0, -0.9, -0.8],
            [0.0, 1.0, 0.0, 0.8, -0.9],
            [0.0, 0.0, 1.0, 0.1, 0.9],
        ] {
            vertices.extend(row.iter().flat_map(|f| f.to_le_bytes()));
        }
        let layout = [attr::COLOR, 3, attr::POSITION, 2];
        self.encode(1, |e| unsafe {
            e.gl_clear_color(0.2, 0.2, 0.2, 1.0);
            e.gl_clear(GL_COLOR_BUFFER_BIT);
            e.mgn_run(
                GL_TRIANGLES,
                0,
                (layout.as_ptr(), 4),
                Data::Bytes(vertices.as_ptr(), vertices.len()),
                (std::ptr::null(), 0),
                (std::ptr::null(), 0),
            );
        });
    }

    /// Swaps surface 1, and gives the picture.
    pub fn swap(&mut self, frame: u32) -> (Header, Vec<u8>) {
        self.encode(1, |e| e.mgn_swap_buffers(1, frame, 1));
        let (header, pixels) = self.frame();
        assert_eq!((header.frame, header.surface), (frame, 1));
        (header, pixels)
    }

    pub fn frame(&mut self) -> (Header, Vec<u8>) {
        let message = self
            .frames
            .recv(Some(WAIT_TIMEOUT))
            .expect("a frame")
            .expect("a frame in time");
        let (header, payload) = split(&message);
        (header, payload)
    }

    #[allow(dead_code)]
    /// Waits for the session's end; gives the reason that the server told, for people.
    pub fn ending(&mut self) -> Option<String> {
        self.end().map(|end| end.to_string())
    }

    #[allow(dead_code)]
    /// The same, with the side at fault.
    pub fn end(&mut self) -> Option<End> {
        loop {
            match self.frames.recv(Some(WAIT_TIMEOUT)) {
                Ok(Some(message)) => {
                    let (header, payload) = split(&message);
                    if header.kind == Kind::Ended {
                        return Some(End::decode(&payload).expect("an end"));
                    }
                }
                Ok(None) => panic!("the session goes on"),
                Err(_) => return None,
            }
        }
    }

    pub fn answer(&mut self) -> Answer {
        let mut bytes = Vec::new();
        loop {
            let message = self
                .answers
                .recv(Some(WAIT_TIMEOUT))
                .expect("an answer")
                .expect("an answer in time")
                .to_vec();
            let total = u32::from_le_bytes(message[4..8].try_into().expect("4 bytes"));
            bytes.extend_from_slice(&message[20..]);
            if bytes.len() >= total as usize {
                return Answer::new(bytes);
            }
        }
    }

    pub fn answer_array<T: Plain>(&mut self) -> Vec<T> {
        let mut answer = self.answer();
        let bytes = answer.next_array(size_of::<T>());
        let mut values = vec![T::default(); bytes.len() / size_of::<T>()];
        // SAFETY: plain values from as many bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), values.as_mut_ptr().cast(), bytes.len())
        };
        values
    }
}

fn split(message: &Message) -> (Header, Vec<u8>) {
    let bytes = message.to_vec();
    let (head, payload) = bytes.split_first_chunk::<HEADER>().expect("a header");
    let header = Header::decode(head).expect("a header that makes sense");
    (header, payload[..header.payload as usize].to_vec())
}

/// A message of a context.
pub fn message(context: u32, commands: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    unsafe fn full(_: *mut Encoder, _: usize) -> *mut u8 {
        panic!("the test's commands do not fit a message")
    }
    let mut words = vec![0u32; CHUNK / 4 - 1];
    words[0] = context;
    let range = words.as_mut_ptr_range();
    // SAFETY: the vector is not used before all is written.
    let mut encoder = unsafe {
        let mut encoder = Encoder::new(full);
        let start = range.start.add(MESSAGE_HEADER / 4).cast();
        encoder.set_room(start, range.end.cast());
        encoder
    };
    commands(&mut encoder);
    let used = encoder.cursor() as usize - range.start as usize;
    let mut bytes = Vec::with_capacity(words.len() * 4);
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.truncate(used);
    bytes
}

pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
