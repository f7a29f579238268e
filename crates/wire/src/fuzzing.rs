//! The fuzz targets of this crate: the command stream, answers, and the messages of the handshake,
//! of the frames connection and of failover.

use std::cell::RefCell;
use std::rc::Rc;

use mgn_fuzzing::Target;
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::draws::{arrays, attr, indices, Array, Extent, Run};
use crate::failover::{encode, Assignment, DisplayPhase, FromProgram};
use crate::frames::{Clocks, Encoding, Header, Instruction, Kind, Release, HEADER};
use crate::gl::GL_POINTS;
use crate::hello::{ContextInfo, Created, Hello, Role, ServerInfo, Welcome, VERSION};
use crate::pack::Packed;
use crate::sift::sift;
use crate::{again, debug, ops, stream, Answer, Blame, Commands, Data, Decoder, End, Fault};
use crate::{NoSnapshot, Pack, Reply, Slice, MESSAGE_HEADER, MESSAGE_MAX};

pub const TARGETS: &[Target] = &[
    Target {
        name: "commands",
        feed: commands,
        seeds: every_command,
        runs: 2000,
    },
    Target {
        name: "sift",
        feed: sifted,
        seeds: every_command,
        runs: 2000,
    },
    Target {
        name: "answers",
        feed: answers,
        seeds: || vec![[4u32, 7, 3, 0x0102_0304].map(u32::to_le_bytes).concat()],
        runs: 2000,
    },
    Target {
        name: "session",
        feed: session,
        seeds: session_seeds,
        runs: 5000,
    },
    Target {
        name: "frame-headers",
        feed: frame_headers,
        seeds: frame_seeds,
        runs: 2000,
    },
    Target {
        name: "failover",
        feed: failover,
        seeds: failover_seeds,
        runs: 5000,
    },
];

/// The first byte is the tile, or 0 for none. Messages follow, each after its length in words (16
/// bits).
fn messages(bytes: &[u8]) -> (Option<u32>, Vec<Vec<u8>>) {
    let Some((tile, mut rest)) = bytes.split_first() else {
        return (None, Vec::new());
    };
    let mut messages = Vec::new();
    while let Some((words, after)) = rest.split_first_chunk() {
        let len = 4 * usize::from(u16::from_le_bytes(*words));
        let (message, after) = after.split_at(len.min(after.len()));
        messages.push(message.to_vec());
        rest = after;
    }
    (u32::from(*tile).checked_sub(1), messages)
}

/// Decodes messages until one is refused.
fn decode(messages: &[Vec<u8>], tile: Option<u32>, to: &mut dyn Commands) -> Result<(), Fault> {
    let (mut decoder, mut reply) = (Decoder::of_tile(tile), Reply::default());
    for message in messages {
        if message.len() % 4 != 0 {
            return Err(Fault::BadMessage(message.len()));
        }
        // Words, for the alignment. Nothing lies behind them, so AddressSanitizer sees every read
        // beyond the end.
        let word = |word: &[u8]| u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let words: Box<[u32]> = message.chunks_exact(4).map(word).collect();
        // SAFETY: the memory is aligned and as long, and lives until the message is decoded.
        unsafe {
            decoder.message(
                words.as_ptr().cast(),
                message.len(),
                to,
                &mut reply,
                |_, _, _, _| Ok(()),
            )?;
        }
    }
    Ok(())
}

/// The checks that a renderer makes before the driver sees commands, and then `Pack`.
struct Checked(Pack);

impl Commands for Checked {
    fn next(&mut self) -> &mut dyn Commands {
        &mut self.0
    }

    fn message(&mut self, context: u32) -> Result<(), Fault> {
        self.0.message(context)
    }

    fn compiled(&mut self, op: u16, body: Slice<'_, u8>) {
        body.to_vec();
        self.0.compiled(op, body);
    }

    fn mgn_run(
        &mut self,
        mode: u32,
        flags: u32,
        layout: Slice<'_, u8>,
        vertices: Data<'_>,
        indices: Slice<'_, u16>,
        tiles: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        let run = Run::parse(mode, flags, layout, vertices, indices, tiles)?;
        for tile in [0, 1, 63, u32::MAX] {
            for (first, count) in run.stretches(mode, tile) {
                let end = i64::from(first) + i64::from(count);
                assert!(first >= 0 && count >= 0 && end <= i64::from(run.count));
            }
        }
        self.0
            .mgn_run(mode, flags, layout, vertices, indices, tiles)
    }

    fn mgn_draw_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        let last = (first as u32).saturating_add(count as u32);
        let extent = Extent {
            elements: Some((first as u32, last)),
            instances: instances as u32,
            base_instance,
        };
        bounded(arrays, vertices, extent)?;
        self.0.mgn_draw_arrays(
            mode,
            first,
            count,
            instances,
            base_instance,
            arrays,
            vertices,
        )
    }

    fn mgn_draw_elements(
        &mut self,
        mode: u32,
        count: i32,
        type_: u32,
        min: u32,
        max: u32,
        instances: i32,
        base_vertex: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        names: Data<'_>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        if let Data::Inline(names) = names {
            indices(names, type_, count as u32, min, max, None)?;
        }
        let extent = Extent {
            elements: Some((min, max)),
            instances: instances as u32,
            base_instance,
        };
        bounded(arrays, vertices, extent)?;
        self.0.mgn_draw_elements(
            mode,
            count,
            type_,
            min,
            max,
            instances,
            base_vertex,
            base_instance,
            arrays,
            names,
            vertices,
        )
    }
}

/// Accepted arrays have all their elements in the draw's memory.
fn bounded(words: Slice<'_, u32>, vertices: Data<'_>, extent: Extent) -> Result<(), Fault> {
    let room = match vertices {
        Data::Inline(bytes) => bytes.len() as u128,
        _ => 0,
    };
    let is_inline = |array: &&Array| array.buffer == 0;
    let arrays = arrays(words, vertices, extent)?;
    for array in arrays.iter().filter(is_inline) {
        let last = match (array.divisor, extent.elements) {
            (0, Some((min, max))) => max.checked_sub(min).map(u128::from),
            (0, None) => None,
            (divisor, _) => extent.instances.checked_sub(1).map(|instances| {
                u128::from(instances / divisor) + u128::from(extent.base_instance)
            }),
        };
        if let Some(last) = last {
            let end = u128::from(array.offset) + last * u128::from(array.stride);
            assert!(end < room, "{array:?} ends behind {room} bytes");
        }
    }
    Ok(())
}

/// Decodes messages, and encodes their commands again, until one is refused. Encoded commands must
/// be accepted, and must encode to the same bytes again.
fn commands(bytes: &[u8]) {
    let (tile, messages) = messages(bytes);
    let once = packed(&messages, tile, false).0;
    let (twice, end) = packed(&once, None, true);
    if let Err(fault) = end {
        panic!("what was encoded is refused: {fault}");
    }
    assert!(
        once == twice,
        "what was encoded changes when it is encoded again"
    );
}

fn packed(
    messages: &[Vec<u8>],
    tile: Option<u32>,
    is_raw: bool,
) -> (Vec<Vec<u8>>, Result<(), Fault>) {
    let sent = Rc::new(RefCell::new(Vec::new()));
    let out = sent.clone();
    let pack = Pack::new(move |packed: Packed<'_>| out.borrow_mut().push(packed.bytes.to_vec()));
    let end = match is_raw {
        true => decode(messages, tile, &mut pack.clone()),
        false => decode(messages, tile, &mut Checked(pack.clone())),
    };
    pack.flush();
    (sent.take(), end)
}

/// Sifts messages for a tile. If a message can be decoded, the sifted one can be decoded too.
fn sifted(bytes: &[u8]) {
    let (tile, messages) = messages(bytes);
    let tile = tile.unwrap_or(0);
    for message in messages {
        let mut out = Vec::new();
        let len = sift(&message, tile, MESSAGE_MAX, |at, bytes| {
            assert_eq!(at, out.len());
            out.extend_from_slice(bytes);
        });
        let Some(len) = len else {
            continue;
        };
        assert_eq!(len, out.len());
        let whole = packed(&[message], None, false).1;
        if whole.is_ok() {
            let part = packed(&[out], None, false).1;
            assert!(part.is_ok(), "{part:?}");
        }
    }
}

/// One message for each fifty commands. All arguments are zero.
fn every_command() -> Vec<Vec<u8>> {
    let pack = Pack::new(|_| ());
    let mut records = Vec::new();
    for at in 0..ops::NAMES.len() {
        let op = ops::FIRST + at as u16;
        let accepted = (0..40usize).find(|words| {
            let body = vec![0u32; *words];
            let bytes: Vec<u8> = body.iter().flat_map(|word| word.to_le_bytes()).collect();
            again(op, &bytes, &mut Checked(pack.clone())).is_ok()
        });
        if let Some(words) = accepted {
            let mut record = (u32::from(op) | (words as u32 + 1) << 16)
                .to_le_bytes()
                .to_vec();
            record.resize(4 * (words + 1), 0);
            records.push(record);
        }
    }
    let mut seeds: Vec<Vec<u8>> = records.chunks(50).map(|fifty| seed(0, fifty)).collect();
    seeds.extend(sorted());
    seeds
}

/// A message of these records, for `tile`, or for none if that is 0.
fn seed(tile: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let message = [vec![0; MESSAGE_HEADER], records.concat()].concat();
    let words = (message.len() as u16 / 4).to_le_bytes();
    [&[tile], &words[..], &message].concat()
}

/// Records as a wall's clients write them: runs that know their tiles, marked draws, and a command
/// that is cut into several records.
fn sorted() -> Vec<Vec<u8>> {
    let record = |op: u16, words: &[u32]| {
        let head = u32::from(op) | (words.len() as u32 + 1) << 16;
        let words = [&[head], words].concat();
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    };
    // Positions of two components, and nothing else: two blocks of points, one for each tile.
    let count = 100;
    let layout = u32::from_le_bytes([attr::POSITION, 2, 0, 0]);
    let mut run = vec![GL_POINTS, 0, 2, layout, 8 * count];
    run.extend((0..2 * count).map(|n| (n as f32).to_bits()));
    run.extend([0, 16, 1, 0, 2, 0]);
    let run = record(ops::MGN_RUN, &run);
    let only = |tiles| record(ops::MGN_ONLY, &[tiles, 0]);
    let clear = || record(ops::GL_CLEAR, &[0x4000]);
    let long = [
        record(stream::LONG, &[ops::GL_CLEAR.into(), 4, 0]),
        record(stream::LONG_DATA, &[4, 0x4000]),
    ];
    vec![
        seed(1, &[run]),
        seed(2, &[only(1), clear(), only(2), clear()]),
        seed(0, &long),
    ]
}

/// Reads values and arrays of all sizes. The first word selects the sizes.
fn answers(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first_chunk() else {
        return;
    };
    let (mut which, mut answer) = (u32::from_le_bytes(*which), Answer::new(rest.to_vec()));
    let mut room = [0u64; 4];
    for _ in 0..16 {
        // SAFETY: there is room for as many elements.
        let got = unsafe {
            match which % 4 {
                0 => usize::from(answer.value::<u64>() == 0),
                1 => answer.array(room.as_mut_ptr(), 4),
                2 => answer.array(room.as_mut_ptr().cast::<u8>(), 4),
                _ => answer.next_array(12).len() / 12 % 5,
            }
        };
        assert!(got <= 4);
        which /= 4;
    }
}

/// Messages of both ends before the stream begins and at its end, and in long answers.
fn session(bytes: &[u8]) {
    same::<Hello>(bytes);
    same::<Welcome>(bytes);
    same::<Created>(bytes);
    debug::messages(bytes);
    if let Some(end) = End::decode(bytes) {
        assert!(end.encode().len() <= bytes.len());
    }
    if let Some(why) = NoSnapshot::decode(bytes) {
        assert!(why.encode(60).len() <= 60);
    }
}

/// A decoded message takes no more memory than its bytes.
fn same<T: DeserializeOwned + Serialize>(bytes: &[u8]) {
    if let Ok(message) = postcard::from_bytes::<T>(bytes) {
        let again = postcard::to_allocvec(&message).unwrap();
        assert!(again.len() <= bytes.len());
    }
}

fn session_seeds() -> Vec<Vec<u8>> {
    let hello = |role| Hello {
        version: VERSION,
        table_hash: crate::ops::TABLE_HASH,
        role,
    };
    let session = Role::Session {
        program: "gears".into(),
        pid: 7,
        tile: Some(1),
        shown: None,
        window: None,
    };
    let frames = Role::Frames {
        session: 3,
        key: [7; 16],
    };
    let welcome = Welcome {
        binary_key: [7; 16],
        spirv: true,
        session: 3,
        key: [7; 16],
        info: ServerInfo {
            vendor: "Mesa".into(),
            egl_extensions: vec!["EGL_KHR_image".into()],
            ..ServerInfo::default()
        },
    };
    let info = ContextInfo {
        extensions: vec!["GL_A".into()],
        integers: vec![(0xd33, vec![16384, 1])],
        floats: vec![(0xd33, vec![0.5])],
        ..ContextInfo::default()
    };
    let all: [postcard::Result<Vec<u8>>; 5] = [
        postcard::to_allocvec(&hello(session)),
        postcard::to_allocvec(&hello(frames)),
        postcard::to_allocvec(&welcome),
        postcard::to_allocvec(&Created::Context(Box::new(info))),
        postcard::to_allocvec(&Created::Failed("no such driver".into())),
    ];
    let mut seeds: Vec<Vec<u8>> = all.into_iter().flatten().collect();
    seeds.push(End::new(Blame::Client, "so").encode());
    seeds.push(NoSnapshot::NotNow("so".into()).encode(60));
    seeds
}

/// The messages between a program and its `mgn run` about tiles and servers.
fn failover(bytes: &[u8]) {
    same::<FromProgram>(bytes);
    same::<Assignment>(bytes);
    same::<Vec<Assignment>>(bytes);
}

fn failover_seeds() -> Vec<Vec<u8>> {
    let assignment = Assignment {
        tile: 63,
        address: "tls:h:7000".into(),
        transport: "tcp".into(),
        token_file: Some("/run/a.token".into()),
        key: Some("ed25519:00".into()),
    };
    let unfit = FromProgram::Unfit {
        tile: 1,
        address: "unix:@b".into(),
    };
    vec![
        encode(&FromProgram::Lost { tile: 3 }),
        encode(&FromProgram::Settled { tile: 3 }),
        encode(&unfit),
        encode(&FromProgram::Phase {
            tile: 1,
            phase: DisplayPhase {
                error: Some(-9),
                late: 2,
            },
        }),
        encode(&assignment),
        encode(&vec![assignment.clone(), assignment]),
    ]
}

/// Headers of frames, and what the client says about them.
fn frame_headers(bytes: &[u8]) {
    if let Some(instruction) = Instruction::decode(bytes) {
        assert_eq!(instruction.encode(), bytes);
    }
    if let Some(clocks) = Clocks::decode(bytes) {
        assert_eq!(Clocks::decode(&clocks.encode()), Some(clocks));
    }
    for bytes in bytes.chunks(HEADER) {
        let header = bytes.first_chunk().and_then(Header::decode);
        if let Some(header) = header {
            assert_eq!(Header::decode(&header.encode()), Some(header));
            if header.kind == Kind::Picture && header.encoding == Encoding::Raw {
                let rows = u64::from(header.stride) * u64::from(header.height);
                assert!(rows <= header.payload.into());
            }
        }
    }
}

fn frame_seeds() -> Vec<Vec<u8>> {
    let frame = Release {
        surface: 1,
        frame: 2,
    };
    let clocks = Clocks {
        asked: 1,
        received: 2,
        answered: 3,
        vblank: None,
        late: 4,
    };
    let show = |vblank| Instruction::Show { frame, vblank }.encode();
    let pixels = &[9; 8];
    vec![
        picture().encode().to_vec(),
        clocks.encode(),
        show(None),
        show(Some(7)),
        Instruction::Merge { frame, pixels }.encode(),
        Instruction::Clocks { asked: 5 }.encode(),
    ]
}

fn picture() -> Header {
    Header {
        width: 3,
        height: 4,
        stride: 16,
        payload: 64,
        ..Header::plain(Kind::Picture, 1, 2)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
