//! The output of each stage for the commands that pass it.

use mgn_spu::{Call, Discard, Histogram, Observe, Observer, Perf, Save, Wireframe};
use mgn_spu::{Chain, SpuError, Stage, StageContext};
use mgn_wire::draws::Draws;
use mgn_wire::hello::{api, Color, Config};
use mgn_wire::{again, gl, ops, Commands, Data, Fault, Reply, Slice};
use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// A writer, or the end of a chain, that a test looks at.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<u8>>>);

impl Seen {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }

    fn say(&self, line: String) {
        self.0.borrow_mut().extend(line.into_bytes());
        self.0.borrow_mut().push(b'\n');
    }
}

impl io::Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn nop() -> Box<dyn Commands> {
    Box::<mgn_spu::Nop>::default()
}

/// Says which modes the driver would have, and answers with a picture.
struct Driver {
    seen: Seen,
    rest: Box<dyn Commands>,
    size: usize,
}

impl Commands for Driver {
    fn next(&mut self) -> &mut dyn Commands {
        &mut *self.rest
    }

    fn gl_polygon_mode(&mut self, face: u32, mode: u32) -> Result<(), Fault> {
        self.seen.say(format!("{face:x} {mode:x}"));
        Ok(())
    }

    fn mgn_take_tiles(
        &mut self,
        surface: u32,
        plane: u32,
        parts: Slice<'_, i32>,
        _: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.seen
            .say(format!("{surface} {plane} {:?}", parts.to_vec()));
        reply.room(self.size).fill(200);
        Ok(())
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, want: u32) -> Result<(), Fault> {
        self.seen.say(format!("swap {surface} {frame} {want}"));
        Ok(())
    }
}

fn driver(size: usize) -> (Seen, Box<Driver>) {
    let seen = Seen::default();
    let driver = Driver {
        seen: seen.clone(),
        rest: nop(),
        size,
    };
    (seen, Box::new(driver))
}

#[test]
fn a_histogram_counts_calls_and_bytes() {
    let out = Seen::default();
    let mut chain = Observe::new(Histogram::new(2, out.clone()), nop());
    for frame in 1..=5 {
        chain.gl_enable(gl::GL_BLEND).unwrap();
        chain.gl_vertex3f(0.0, 0.0, 0.0).unwrap();
        chain.gl_vertex3f(0.0, 0.0, 0.0).unwrap();
        let bytes = [0u8; 5];
        let data = Data::Inline(Slice::from(&bytes[..]));
        chain
            .gl_buffer_data(gl::GL_ARRAY_BUFFER, 5, data, gl::GL_STATIC_DRAW)
            .unwrap();
        chain.mgn_swap_buffers(1, frame, 0).unwrap();
    }
    chain.end();
    let text = out.text();
    let (recent, all) = text.split_once("all 5 frames\n").unwrap();
    assert!(recent.starts_with("frames 1 to 2\n"), "{text}");
    let rows = |text: &str| {
        let lines = text
            .lines()
            .filter(|l| !l.ends_with("command") && !l.is_empty());
        let words = lines.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        words.collect::<Vec<_>>()
    };
    let expected = [
        "10 160 glVertex3f",
        "5 160 glBufferData",
        "5 40 glEnable",
        "5 80 mgnSwapBuffers",
        "25 440 in all",
    ];
    assert_eq!(rows(all), expected);
    let parts = rows(recent);
    let same = parts.iter().filter(|row| *row == "4 64 glVertex3f");
    assert_eq!(same.count(), 2, "{recent}");
}

#[test]
fn perf_counts_what_is_drawn() {
    let line = |draw: &mut dyn FnMut(&mut dyn Commands)| {
        let out = Seen::default();
        let mut chain = Observe::new(Perf::new(Duration::from_secs(1000), out.clone()), nop());
        for frame in 1..=2 {
            draw(&mut chain);
            chain.mgn_swap_buffers(1, frame, 1).unwrap();
        }
        chain.end();
        let text = out.text();
        // However long that took.
        assert!(
            text.starts_with("all ") && text.contains(" s: 2 frames, "),
            "{text}"
        );
        let (_, a_frame) = text.split_once("a frame: ").unwrap();
        let (counts, _) = a_frame.split_once("; ").unwrap();
        let parts: Vec<_> = counts.split(", ").map(str::to_owned).collect();
        (parts[..3].join(", "), parts[4].clone())
    };
    let (drawn, changes) = line(&mut |chain| {
        chain.gl_enable(gl::GL_BLEND).unwrap();
        chain
            .gl_draw_arrays_instanced(gl::GL_TRIANGLE_STRIP, 0, 5, 3)
            .unwrap();
        let counts = [6, 4];
        let firsts = [0, 0];
        let (firsts, counts) = (Slice::from(&firsts[..]), Slice::from(&counts[..]));
        chain
            .gl_multi_draw_arrays(gl::GL_LINES, firsts, counts)
            .unwrap();
        chain
            .gl_get_integerv(gl::GL_VIEWPORT, 4, &mut Reply::default())
            .unwrap();
    });
    assert_eq!(drawn, "3 draws, 25 vertices, 14 primitives");
    assert_eq!(changes, "1 changes of state");
    // A run of two triangles, and a list of a quad that is made once and called twice.
    let mut is_made = false;
    let (drawn, _) = line(&mut |chain| {
        let layout = [0u8, 3];
        let vertices = [0u8; 72];
        let data = Data::Inline(Slice::from(&vertices[..]));
        let layout = Slice::from(&layout[..]);
        chain
            .mgn_run(
                gl::GL_TRIANGLES,
                0,
                layout,
                data,
                Slice::null(),
                Slice::null(),
            )
            .unwrap();
        if !std::mem::replace(&mut is_made, true) {
            chain.gl_new_list(5, gl::GL_COMPILE).unwrap();
            chain.gl_begin(gl::GL_QUADS).unwrap();
            (0..4).for_each(|_| chain.gl_vertex2i(0, 0).unwrap());
            chain.gl_end().unwrap();
            chain.gl_end_list().unwrap();
        }
        chain.gl_call_list(5).unwrap();
        chain.gl_call_list(5).unwrap();
    });
    assert_eq!(drawn, "3 draws, 14 vertices, 4 primitives");
}

/// The commands that come to the end of a chain, by opcode.
#[derive(Clone, Default)]
struct Arrived(Rc<RefCell<Vec<u16>>>);

impl Arrived {
    fn end(&self) -> Box<dyn Commands> {
        Box::new(Observe::new(self.clone(), nop()))
    }

    fn take(&self) -> Vec<u16> {
        self.0.take()
    }
}

impl Observer for Arrived {
    fn before(&mut self, call: &Call<'_>) {
        self.0.borrow_mut().push(call.op);
    }
}

/// Whatever the chain is made of, so that the decoder is compiled once.
fn perform(op: u16, body: &[u8], chain: &mut dyn Commands) -> Result<(), Fault> {
    again(op, body, chain)
}

/// All commands that travel, each with a body that is as long as its parameters are: of zeros, but
/// for arrays that must hold something, which are null.
fn every_command() -> impl Iterator<Item = (u16, Vec<u8>)> {
    let mut end = nop();
    (ops::FIRST..).take(ops::NAMES.len()).map(move |op| {
        let zeros = (0..24usize).map(|words| vec![0u8; words * 4]);
        let with_nulls = (0..18usize).flat_map(|words| {
            let pairs = (0..words).flat_map(move |a| (a..words).map(move |b| [a, b]));
            pairs.map(move |nulls| {
                let mut body = vec![0u8; words * 4];
                for word in nulls {
                    body[word * 4..][..4].fill(0xff);
                }
                body
            })
        });
        let mut bodies = zeros.chain(with_nulls);
        let body = bodies.find(|body| perform(op, body, &mut *end).is_ok());
        let body = body.unwrap_or_else(|| panic!("{} has no body", mgn_wire::name(op)));
        (op, body)
    })
}

#[test]
fn whatever_draws_is_discarded_and_nothing_else() {
    let arrived = Arrived::default();
    let mut chain = Discard::new(arrived.end());
    let mut dropped = 0;
    for (op, body) in every_command() {
        let done = perform(op, &body, &mut chain);
        let draws = ops::draws(op).is_some();
        let expected = if draws { vec![] } else { vec![op] };
        assert_eq!(arrived.take(), expected, "{}", mgn_wire::name(op));
        // A run of no vertices at all is refused when it is checked.
        assert!(done.is_ok() || op == ops::MGN_RUN, "{}", mgn_wire::name(op));
        dropped += usize::from(draws);
    }
    assert!(dropped > 60, "{dropped}");
}

#[test]
fn frames_that_are_discarded_are_wanted_by_nobody() {
    let (seen, driver) = driver(0);
    let mut chain = Discard::new(driver);
    chain.mgn_swap_buffers(7, 1, 3).unwrap();
    assert_eq!(seen.text(), "swap 7 1 0\n");
    let text = Seen::default();
    let mut chain = Discard::new(Box::new(Observe::new(
        mgn_spu::Print::new(text.clone()),
        nop(),
    )));
    chain.mgn_copy_sub_buffer(7, 2, 3, 0, 0, 5, 5).unwrap();
    chain.mgn_present_front(7, 3, 3).unwrap();
    let text = text.text();
    assert_eq!(text.matches("want=0").count(), 2, "{text}");
}

#[test]
fn perf_counts_what_the_table_calls_a_draw() {
    for (op, body) in every_command() {
        let by_itself = matches!(
            ops::draws(op),
            Some(Draws::Arrays | Draws::Shapes | Draws::Pixels)
        );
        // These are counted by what they begin, end or call.
        let otherwise = [
            ops::MGN_RUN,
            ops::GL_BEGIN,
            ops::GL_END,
            ops::GL_CALL_LIST,
            ops::GL_NEW_LIST,
            ops::GL_END_LIST,
        ];
        if otherwise.contains(&op) {
            continue;
        }
        let out = Seen::default();
        let mut chain = Observe::new(Perf::new(Duration::from_secs(1000), out.clone()), nop());
        perform(op, &body, &mut chain).unwrap();
        chain.end();
        let text = out.text();
        let (_, a_frame) = text.split_once("a frame: ").unwrap();
        let draws = a_frame.starts_with("1 draws");
        // An array of no counts is a draw of nothing.
        let of_none = matches!(
            op,
            ops::GL_MULTI_DRAW_ARRAYS
                | ops::GL_MULTI_DRAW_ELEMENTS
                | ops::GL_MULTI_DRAW_ELEMENTS_BASE_VERTEX
        );
        assert_eq!(
            draws,
            by_itself && !of_none,
            "{} {text}",
            mgn_wire::name(op)
        );
    }
}

#[test]
fn perf_writes_a_line_each_time_and_one_of_all() {
    let out = Seen::default();
    let mut chain = Observe::new(Perf::new(Duration::ZERO, out.clone()), nop());
    for frame in 1..=3 {
        chain.gl_draw_arrays(gl::GL_POINTS, 0, 4).unwrap();
        chain.mgn_swap_buffers(1, frame, 1).unwrap();
    }
    chain.end();
    let text = out.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for (line, frames) in lines.iter().zip([": 1 f", ": 1 f", ": 1 f", ": 3 f"]) {
        assert!(line.contains(frames), "{line}");
        assert!(
            line.contains("a frame: 1 draws, 4 vertices, 4 primitives"),
            "{line}"
        );
    }
}

#[test]
fn wireframe_draws_lines_and_remembers_what_was_asked_for() {
    let (seen, driver) = driver(0);
    let mut chain = Wireframe::new(driver);
    let reply = &mut Reply::default();
    chain
        .mgn_create_context(1, api::CORE, 4, 5, 0, 0, 0, 0, reply)
        .unwrap();
    chain
        .mgn_create_context(2, api::ES, 3, 2, 0, 0, 0, 0, reply)
        .unwrap();
    for context in [1, 2, 1] {
        chain.message(context).unwrap();
    }
    chain
        .gl_polygon_mode(gl::GL_FRONT_AND_BACK, gl::GL_POINT)
        .unwrap();
    chain.gl_push_attrib(gl::GL_POLYGON_BIT).unwrap();
    chain.gl_polygon_mode(gl::GL_FRONT, gl::GL_FILL).unwrap();
    let mode = |chain: &mut Wireframe| {
        let mut reply = Reply::default();
        chain
            .gl_get_integerv(gl::GL_POLYGON_MODE, 2, &mut reply)
            .unwrap();
        let words = reply.bytes()[4..].chunks_exact(4);
        let words = words.map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        words.collect::<Vec<_>>()
    };
    assert_eq!(mode(&mut chain), [gl::GL_FILL, gl::GL_POINT]);
    chain.gl_pop_attrib().unwrap();
    assert_eq!(mode(&mut chain), [gl::GL_POINT, gl::GL_POINT]);
    // The driver is to find what is wrong.
    chain.gl_polygon_mode(gl::GL_FRONT, gl::GL_BLEND).unwrap();
    assert_eq!(mode(&mut chain), [gl::GL_POINT, gl::GL_POINT]);
    assert_eq!(seen.text(), "408 1b01\n408 1b01\n404 1b01\n404 be2\n");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("mgn-spu-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).unwrap().flatten();
        let mut names: Vec<_> = files
            .map(|f| f.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn save_reads_every_nth_frame_before_it_is_shown() {
    let folder = Folder::new("save");
    let saver = mgn_present::Saver::new(&folder.0, mgn_present::FileFormat::Png, 2).unwrap();
    let (seen, driver) = driver(3 * 2 * 4);
    let mut chain = Save::new(saver, driver);
    let config = Config::new(Color::Rgb10, 2, 24, 8, 0).id | Config::SRGB;
    chain.mgn_create_surface(9, 0, config, 30, 20).unwrap();
    chain.mgn_resize_surface(9, 3, 2).unwrap();
    chain.message(1).unwrap();
    for frame in 1..=4 {
        chain.mgn_swap_buffers(9, frame, 1).unwrap();
    }
    // Without a context there is nothing that could be read with.
    chain.message(0).unwrap();
    chain.mgn_swap_buffers(9, 6, 0).unwrap();
    let read = "9 0 [0, 0, 0, 3, 2]\n";
    let expected =
        format!("swap 9 1 1\n{read}swap 9 2 1\nswap 9 3 1\n{read}swap 9 4 1\nswap 9 6 0\n");
    assert_eq!(seen.text(), expected);
    assert_eq!(folder.names(), ["frame-000002.png", "frame-000004.png"]);
}

fn stages(text: &str) -> Result<Vec<Stage>, SpuError> {
    text.split_whitespace().map(str::parse).collect()
}

#[test]
fn a_chain_is_built_in_its_order_with_files_for_each_session() {
    let folder = Folder::new("chain");
    let (trace, table) = (folder.0.join("trace.txt"), folder.0.join("table"));
    let text = format!(
        "print:file={} discard histogram:file={}",
        trace.display(),
        table.display()
    );
    let chain = Chain::new(stages(&text).unwrap()).unwrap();
    assert_eq!(folder.names(), ["table", "trace.txt"]);
    for session in [1, 7] {
        let mut built = chain.build(&StageContext { session }, nop()).unwrap();
        built.message(3).unwrap();
        built.gl_enable(gl::GL_BLEND).unwrap();
        built.gl_clear(gl::GL_COLOR_BUFFER_BIT).unwrap();
        built.end();
    }
    assert_eq!(
        folder.names(),
        ["table", "table-7", "trace-7.txt", "trace.txt"]
    );
    for name in ["trace.txt", "trace-7.txt"] {
        let trace = fs::read_to_string(folder.0.join(name)).unwrap();
        assert_eq!(
            trace,
            "3 glEnable(cap=GL_BLEND)\n3 glClear(mask=GL_COLOR_BUFFER_BIT)\n"
        );
    }
    let table = fs::read_to_string(table).unwrap();
    assert!(
        table.contains("glEnable") && !table.contains("glClear"),
        "{table}"
    );
}

#[test]
fn stages_are_written_as_they_are_read() {
    for text in ["print", "save:dir=/tmp/x:y,every=2", "perf:seconds=3"] {
        assert_eq!(text.parse::<Stage>().unwrap().to_string(), text);
    }
    let empty: Stage = "print:".parse().unwrap();
    assert_eq!(empty.to_string(), "print");
}

#[test]
fn a_chain_may_end_in_nop_only_where_nobody_waits() {
    let cut = Chain::new(stages("print nop").unwrap()).unwrap();
    assert!(cut.is_cut());
    assert!(Chain::on_server(stages("nop").unwrap()).is_err());
    assert!(Chain::new(stages("nop print").unwrap()).is_err());
}

#[test]
fn a_program_has_no_stage_that_needs_answers() {
    let refused = |text: &str| {
        let refused = Chain::on_client(stages(text).unwrap()).unwrap_err();
        refused.to_string()
    };
    assert!(refused("print save:dir=/no/such/dir").contains("save needs the renderer's answers"));
    assert!(refused("nop").contains("nop does not answer"));
    let chain = |text| Chain::on_client(stages(text).unwrap()).unwrap();
    assert!(chain("print perf histogram").sorts());
    assert!(!chain("print wireframe").sorts());
    // A wall does not write to programs' files.
    let wanted = |text: &str| text.parse::<Stage>().unwrap().for_client_of_others();
    assert!(wanted("print").is_ok() && wanted("wireframe").is_ok());
    let refused = wanted("print:file=trace").unwrap_err();
    assert_eq!(refused.parameter(), Some("file"));
}

#[test]
fn ends_are_where_they_belong() {
    let on = |make: fn(Vec<Stage>) -> Result<Chain, SpuError>, text: &str| {
        make(stages(text).unwrap()).map_err(|error| error.to_string())
    };
    let beside: [fn(_) -> _; 2] = [Chain::on_server, Chain::on_replay];
    for make in beside {
        assert!(on(make, "print render").unwrap().has_stages());
        assert!(!on(make, "render").unwrap().has_stages());
        for end in ["pack", "tilesort", "broadcast"] {
            assert!(on(make, end).unwrap_err().contains("--client-spu"));
        }
    }
    assert!(on(Chain::on_client, "render")
        .unwrap_err()
        .contains("--spu"));
    for (end, sorts) in [("pack", false), ("tilesort", true), ("broadcast", false)] {
        let chain = on(Chain::on_client, end).unwrap();
        assert_eq!((chain.sorts(), chain.has_stages()), (sorts, false), "{end}");
        assert!(chain.fits(1).is_ok());
        assert_eq!(chain.fits(4).is_ok(), end != "pack", "{end}");
        let refused = on(Chain::on_client, &format!("{end} print")).unwrap_err();
        assert_eq!(
            refused,
            format!("{end} must be the last stage of a chain; print cannot follow it")
        );
    }
    assert!(!on(Chain::on_client, "wireframe tilesort").unwrap().sorts());
}

#[test]
fn the_guide_knows_every_spu_and_parameter() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/spu.md");
    let guide = fs::read_to_string(guide).unwrap();
    for spu in mgn_spu::chain::SPUS {
        assert!(guide.contains(&format!("`{}`", spu.name)), "{}", spu.name);
        for parameter in spu.parameters {
            let named = format!("`{}=", parameter.name);
            assert!(guide.contains(&named), "{}:{}", spu.name, parameter.name);
        }
    }
}
