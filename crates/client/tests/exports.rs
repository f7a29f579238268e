//! The library as the loader sees it: what it exports, how much thread-local storage it takes, what
//! it needs.

mod common;

/// A 64-bit little-endian ELF file, read no further than these tests need.
struct Elf(Vec<u8>);

impl Elf {
    fn half(&self, at: usize) -> usize {
        u16::from_le_bytes(self.0[at..at + 2].try_into().unwrap()).into()
    }

    fn word(&self, at: usize) -> usize {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap()) as usize
    }

    fn long(&self, at: usize) -> usize {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap()) as usize
    }

    fn text(&self, at: usize) -> String {
        let bytes = self.0[at..].split(|b| *b == 0).next().unwrap();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Type and place of each program header.
    fn segments(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (first, size, count) = (self.long(0x20), self.half(0x36), self.half(0x38));
        (0..count).map(move |n| (self.word(first + n * size), first + n * size))
    }

    fn section(&self, kind: usize) -> usize {
        let (first, size, count) = (self.long(0x28), self.half(0x3a), self.half(0x3c));
        (0..count)
            .map(|n| first + n * size)
            .find(|at| self.word(at + 4) == kind)
            .expect("the section is there")
    }

    /// Names of the dynamic symbols that are defined here.
    fn exports(&self) -> Vec<String> {
        const DYNSYM: usize = 11;
        let section = self.section(DYNSYM);
        let (at, bytes) = (self.long(section + 0x18), self.long(section + 0x20));
        let link = self.word(section + 0x28);
        let strings = self.long(self.long(0x28) + link * self.half(0x3a) + 0x18);
        (at..at + bytes)
            .step_by(24)
            .filter(|symbol| self.half(symbol + 6) != 0)
            .map(|symbol| self.text(strings + self.word(symbol)))
            .collect()
    }

    /// Libraries that are loaded with it, and the flags of the dynamic section.
    fn dynamic(&self) -> (Vec<String>, usize) {
        const DYNAMIC: usize = 6;
        let section = self.section(DYNAMIC);
        let (at, bytes) = (self.long(section + 0x18), self.long(section + 0x20));
        let link = self.word(section + 0x28);
        let strings = self.long(self.long(0x28) + link * self.half(0x3a) + 0x18);
        let (mut needed, mut flags) = (Vec::new(), 0);
        for entry in (at..at + bytes).step_by(16) {
            match self.long(entry) {
                1 => needed.push(self.text(strings + self.long(entry + 8))),
                0x6fff_fffb => flags = self.long(entry + 8),
                _ => {}
            }
        }
        (needed, flags)
    }
}

#[test]
fn the_loader_finds_what_it_should() {
    let elf = Elf(std::fs::read(common::library()).unwrap());

    let mut exports = elf.exports();
    exports.sort();
    assert_eq!(exports, ["__egl_Main", "__glx_Main"]);

    const TLS: usize = 7;
    let tls = elf.segments().find(|(kind, _)| *kind == TLS);
    let bytes = tls.map_or(0, |(_, at)| elf.long(at + 0x28));
    // glibc keeps 512 bytes (its tunable `rtld.optional_static_tls`) for all libraries that are
    // loaded later. Half of that is ours: what differs between releases of Rust is the standard
    // library's part, 80 bytes or so.
    assert!(
        bytes <= 256,
        "{bytes} bytes of initial-exec TLS: dlopen may fail"
    );

    let (needed, flags) = elf.dynamic();
    for library in &needed {
        let expected = [
            "libc.so.6",
            "libgcc_s.so.1",
            "libm.so.6",
            "ld-linux-x86-64.so.2",
        ];
        assert!(
            expected.contains(&library.as_str()),
            "{library} must be there to load us"
        );
    }
    const NODELETE: usize = 8;
    assert_ne!(
        flags & NODELETE,
        0,
        "the library could be unloaded under its threads"
    );
}
