//! Binaries that clients make up: drivers would trust them.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[allow(dead_code)]
#[macro_use]
mod support;

use mgn_fabric::{Role, Store, Token, Transport};
use mgn_fuzzing::Random;
use mgn_wire::gl::*;
use mgn_wire::Answer;
use support::{Client, Server};

processes!();

/// Bytes of the seal behind a binary, and of Mesa's header before its payload: the format, a hash
/// of the driver, the payload's size and its checksum.
const SEAL: usize = 32;
const HEADER: usize = 32;
const PROGRAM: u32 = 3;
const OTHER: u32 = 4;

fn client(server: &Server, transport: Transport) -> Client {
    let mut client = server.client(transport);
    client.set_up();
    client.encode(1, |e| e.gl_create_program(OTHER));
    client
}

/// Links a program, and gives its binary and the binary's format.
fn binary_of(client: &mut Client) -> (u32, Vec<u8>) {
    let vertex = "#version 150\nin vec4 at; uniform mat4 by; out vec2 where; \
                  void main() { where = at.xy * 0.5; gl_Position = by * at; }";
    let fragment = "#version 150\nuniform sampler2D image; uniform Block { vec4 tints[4]; }; in vec2 where; out vec4 color; \
                    void main() { color = texture(image, where) * tints[int(where.x * 4.0)]; }";
    client.encode(1, |e| unsafe {
        e.gl_create_program(PROGRAM);
        let shaders = [
            (GL_VERTEX_SHADER, 1, vertex),
            (GL_FRAGMENT_SHADER, 2, fragment),
        ];
        for (kind, name, source) in shaders {
            e.gl_create_shader(kind, name);
            e.gl_shader_source(name, (source.as_ptr(), source.len()));
            e.gl_compile_shader(name);
            e.gl_attach_shader(PROGRAM, name);
        }
        e.gl_link_program(PROGRAM);
        e.gl_get_programiv(PROGRAM, GL_PROGRAM_BINARY_LENGTH, 1);
    });
    let length = client.answer_array::<i32>()[0];
    assert!(length > 0, "the program is linked");
    client.encode(1, |e| {
        e.gl_get_program_binary(PROGRAM, length, 1, 1, length as u32);
    });
    let mut answer = client.answer();
    assert_eq!(number(&mut answer) as i32, length);
    let format = number(&mut answer);
    let binary = answer.next_array(1).to_vec();
    assert_eq!(binary.len(), length as usize);
    (format, binary)
}

fn number(answer: &mut Answer) -> u32 {
    u32::from_le_bytes(answer.next_array(4).try_into().expect("one number"))
}

/// Whether a program is linked after it was given these bytes, and the error.
fn load(client: &mut Client, format: u32, binary: &[u8]) -> (bool, u32) {
    client.encode(1, |e| unsafe {
        let length = binary.len() as i32;
        e.gl_program_binary(OTHER, format, (binary.as_ptr(), binary.len()), length);
        e.gl_get_programiv(OTHER, GL_LINK_STATUS, 1);
        e.mgn_get_error(1);
    });
    let linked = client.answer_array::<i32>()[0];
    (linked != 0, client.answer_array::<u32>()[0])
}

const LOADED: (bool, u32) = (true, GL_NO_ERROR);
const REFUSED: (bool, u32) = (false, GL_NO_ERROR);

/// The checksum that Mesa writes into its header.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let first = crc ^ u32::from(*byte);
        (0..8).fold(first, |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    bytes.iter().fold(!0, step)
}

#[test]
fn only_binaries_of_the_server_are_loaded() {
    let server = Server::start(true, &[]);
    let elsewhere = Server::start(true, &[]);
    let mut client = client(&server, Transport::Tcp);
    let (format, binary) = binary_of(&mut client);
    assert_eq!(load(&mut client, format, &binary), LOADED);

    let plain = &binary[..binary.len() - SEAL];
    let huge = vec![0; 150_000];
    let mut longer = binary.clone();
    longer.push(0);
    let made_up: [(&str, &[u8]); 5] = [
        ("without a seal", plain),
        ("with a part of a seal", &binary[..binary.len() - 1]),
        ("with more behind it", &longer),
        ("of nothing", &[]),
        ("of zeros", &huge),
    ];
    for (what, bytes) in made_up {
        assert_eq!(load(&mut client, format, bytes), REFUSED, "a binary {what}");
    }
    assert_eq!(load(&mut client, 77, &binary), (false, GL_INVALID_ENUM));
    assert_eq!(load(&mut client, format, &binary), LOADED);

    let mut far = self::client(&elsewhere, Transport::Tcp);
    assert_eq!(load(&mut far, format, &binary), REFUSED);
    let (format, own) = binary_of(&mut far);
    assert_eq!(load(&mut far, format, &own), LOADED);
    assert_eq!(load(&mut client, format, &own), REFUSED);
}

#[test]
fn a_changed_binary_with_the_right_checksum_does_not_reach_the_driver() {
    let server = Server::start(true, &[]);
    let mut client = client(&server, Transport::Tcp);
    let (format, binary) = binary_of(&mut client);
    let payload = HEADER..binary.len() - SEAL;
    let inverted = |bytes: &[u8]| !checksum(bytes);
    let of = |bytes: &[u8]| u32::from_le_bytes(bytes[HEADER - 4..HEADER].try_into().unwrap());
    let sum: fn(&[u8]) -> u32 = match of(&binary) {
        it if it == checksum(&binary[payload.clone()]) => checksum,
        it if it == inverted(&binary[payload.clone()]) => |bytes| !checksum(bytes),
        _ => panic!("the driver's header is another than it was"),
    };
    let mut random = Random::new(1);
    for _ in 0..40 {
        let mut changed = binary.clone();
        for _ in 0..4 {
            let at = payload.start + random.below(payload.len() - 4);
            changed[at..at + 4].copy_from_slice(&(random.next() as u32).to_le_bytes());
        }
        let right = sum(&changed[payload.clone()]);
        changed[HEADER - 4..HEADER].copy_from_slice(&right.to_le_bytes());
        assert_eq!(load(&mut client, format, &changed), REFUSED);
        client.encode(1, |e| e.gl_use_program(OTHER));
        client.draw_triangle();
        client.encode(1, |e| e.mgn_get_error(1));
        client.answer_array::<u32>();
    }
    assert_eq!(load(&mut client, format, &binary), LOADED);
}

#[test]
fn binaries_outlive_the_server_that_made_them() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let settings = [("XDG_STATE_HOME", state)];
    let (format, binary) = {
        let server = Server::start(false, &settings);
        binary_of(&mut client(&server, Transport::Unix))
    };
    let server = Server::start(false, &settings);
    let mut later = client(&server, Transport::Shm);
    assert_eq!(load(&mut later, format, &binary), LOADED);
    // A user who connects by another transport counts as another client.
    let server = Server::start(true, &settings);
    let mut other = client(&server, Transport::Tcp);
    assert_eq!(load(&mut other, format, &binary), REFUSED);
}

/// One client may have taken its worker over, with the key that the worker knows.
#[test]
fn no_client_loads_what_another_has_made() {
    let folder = tempfile::tempdir().unwrap();
    let [store, state] = ["tokens", "state"].map(|name| folder.path().join(name));
    let token = |name| {
        let token = Token::new(name, Role::Client).unwrap();
        Store::add(&store, &token).unwrap();
        token
    };
    let (alice, mallory) = (token("alice"), token("mallory"));
    let [store, state] = [&store, &state].map(|path| path.to_str().unwrap());
    let settings = [("TEST_STORE", store), ("XDG_STATE_HOME", state)];
    let mut server = Server::start(true, &settings);
    server.token = Some(mallory);
    let mut attacker = client(&server, Transport::Tcp);
    let (format, binary) = binary_of(&mut attacker);
    assert_eq!(load(&mut attacker, format, &binary), LOADED);
    server.token = Some(alice.clone());
    let mut victim = client(&server, Transport::Tcp);
    assert_eq!(load(&mut victim, format, &binary), REFUSED);
    // All servers of a wall accept what one of them has made for the same client.
    let (format, own) = binary_of(&mut victim);
    let mut next = Server::start(true, &settings);
    next.token = Some(alice);
    let mut there = client(&next, Transport::Tcp);
    assert_eq!(there.welcome.binary_key, victim.welcome.binary_key);
    assert_eq!(load(&mut there, format, &own), LOADED);
}

#[test]
fn a_server_does_not_use_a_key_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("manganese/binaries.key");
    std::fs::create_dir(key.parent().unwrap()).unwrap();
    std::fs::write(&key, [7; 32]).unwrap();
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let state = folder.path().to_str().unwrap();
    let why = Server::try_start(false, &[("XDG_STATE_HOME", state)]).map(drop);
    let why = why.unwrap_err();
    assert!(why.contains("run chmod 600 on it"), "{why}");
}

/// Gives a new shader these words for a module: the error, and whether the shader has them.
fn give_spirv(client: &mut Client, shader: u32, words: &[u32]) -> (u32, bool) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    client.encode(1, |e| unsafe {
        e.gl_create_shader(GL_FRAGMENT_SHADER, shader);
        let (format, length) = (GL_SHADER_BINARY_FORMAT_SPIR_V, bytes.len());
        let bytes = (bytes.as_ptr(), length);
        e.gl_shader_binary(1, ([shader].as_ptr(), 1), format, bytes, length as i32);
        e.mgn_get_error(1);
        e.gl_get_shaderiv(shader, GL_SPIR_V_BINARY, 1);
    });
    let error = client.answer_array::<u32>()[0];
    (error, client.answer_array::<i32>()[0] != 0)
}

/// A magic number, a version, a generator, a bound, and a word that is always 0.
const BEGINNING: [u32; 5] = [0x0723_0203, 0x0001_0000, 0, 50, 0];

#[test]
fn spirv_from_the_network_does_not_reach_the_driver() {
    let server = Server::start(true, &[]);
    let mut client = client(&server, Transport::Tcp);
    assert!(!client.welcome.spirv);
    let mut random = Random::new(1);
    for shader in 10..50 {
        let mut words = BEGINNING.to_vec();
        for _ in 0..64 {
            // Short instructions of any kind, with identifiers within the bound and beyond.
            words.push(random.next() as u32 & 0x0003_01ff | 0x0001_0000);
        }
        let given = give_spirv(&mut client, shader, &words);
        assert_eq!(given, (GL_INVALID_ENUM, false));
        let none: (*const u32, usize) = (std::ptr::null(), 0);
        client.encode(1, |e| unsafe {
            e.gl_specialize_shader(shader, (b"main".as_ptr(), 4), 0, none, none);
            e.mgn_get_error(1);
        });
        assert_eq!(client.answer_array::<u32>(), [GL_INVALID_OPERATION]);
    }
    client.draw_triangle();
    assert_eq!(client.swap(1).1.len(), 64 * 48 * 4);
}

#[test]
fn spirv_is_for_the_servers_user_and_for_those_it_was_started_for() {
    let near = Server::start(false, &[]);
    let open = Server::start(true, &[("TEST_SPIRV", "1")]);
    for (server, transport) in [(near, Transport::Unix), (open, Transport::Tcp)] {
        let mut client = client(&server, transport);
        assert!(client.welcome.spirv);
        let given = give_spirv(&mut client, 9, &BEGINNING);
        assert_eq!(given, (GL_NO_ERROR, true));
    }
}
