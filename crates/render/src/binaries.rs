//! Program binaries and shader binaries.
//!
//! Drivers trust the bytes of a program binary and verify only a checksum. So each program binary
//! that a client gets is followed by a seal, a keyed hash of the binary and its format. The driver
//! gets back only binaries whose seal is right. Lengths that clients see include the seal.

use crate::names::Class;
use crate::renderer::{out, written, Renderer};
use mgn_wire::{gl::*, lens, Fault, Reply, Slice};
use serde::{Deserialize, Serialize};
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Bytes of a seal.
const SEAL: usize = 32;

/// The key of the seals. Servers that have the same key accept each other's program binaries.
#[derive(Clone, Serialize, Deserialize)]
pub struct BinaryKey([u8; 32]);

impl BinaryKey {
    pub fn new(bytes: [u8; 32]) -> BinaryKey {
        BinaryKey(bytes)
    }

    /// A random key.
    ///
    /// # Panics
    /// If the kernel gives no random bytes.
    pub fn random() -> BinaryKey {
        let mut key = BinaryKey([0; 32]);
        getrandom::fill(&mut key.0).expect("the kernel gives random bytes");
        key
    }

    /// The key for one client of a server that has this key. `client` identifies the client.
    pub fn of_client(&self, client: &str) -> BinaryKey {
        let context = "manganese, the key for program binaries of one client";
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&self.0).update(client.as_bytes());
        BinaryKey(hasher.finalize().into())
    }

    /// A number that differs between keys and reveals nothing else about them.
    pub fn id(&self) -> [u8; 16] {
        let hash = blake3::derive_key("manganese, the name of a key for program binaries", &self.0);
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        id
    }

    fn seal(&self, format: u32, binary: &[u8]) -> [u8; SEAL] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&format.to_le_bytes()).update(binary);
        hasher.finalize().into()
    }

    /// The binary with its seal behind it.
    pub(crate) fn sealed(&self, format: u32, mut binary: Vec<u8>) -> Vec<u8> {
        let seal = self.seal(format, &binary);
        binary.extend(seal);
        binary
    }

    /// The binary without its seal; none if the seal is wrong.
    fn opened<'a>(&self, format: u32, sealed: &'a [u8]) -> Option<&'a [u8]> {
        let (binary, seal) = sealed.split_last_chunk::<SEAL>()?;
        let is_right = self.seal(format, binary).ct_eq(seal);
        bool::from(is_right).then_some(binary)
    }
}

impl fmt::Debug for BinaryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BinaryKey(..)")
    }
}

impl Drop for BinaryKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Renderer {
    pub(crate) fn handwritten_gl_get_program_binary(
        &mut self,
        program: u32,
        buf_size: i32,
        length_count: u32,
        binary_format_count: u32,
        binary_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.object(Class::Program, program);
        let mut binary = out::<u8>(binary_count, lens::times(buf_size.into(), 1))?;
        let (mut length, mut format) = (-1, 0);
        // The driver refuses a size that is too small or negative.
        let room = match buf_size {
            0.. => buf_size.saturating_sub(SEAL as i32).max(0),
            _ => buf_size,
        };
        self.error();
        // SAFETY: there is room for `room` bytes, one length and one format.
        unsafe {
            let to = binary.as_mut_ptr().cast();
            (self.gl.glGetProgramBinary)(program, room, &mut length, &mut format, to);
        }
        let failed = self.failed();
        if let (false, Ok(plain @ 1..)) = (failed, usize::try_from(length)) {
            binary.truncate(plain);
            binary = self.binary_key.sealed(format, binary);
            length = binary.len() as i32;
        }
        reply.array(&[length], if length < 0 { 0 } else { length_count });
        reply.array(&[format], if failed { 0 } else { binary_format_count });
        let count = if failed {
            0
        } else {
            written(length, 0, binary_count)
        };
        reply.array(&binary, count);
        Ok(())
    }

    /// A binary without the right seal is handled as the driver handles a binary of another
    /// release: the program is not linked, and no error is raised.
    pub(crate) fn handwritten_gl_program_binary(
        &mut self,
        program: u32,
        binary_format: u32,
        binary: Slice<'_, u8>,
        length: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.object(Class::Program, program);
        // The driver gets a copy of the checked bytes, because the client may change its own
        // meanwhile.
        let mut sealed = binary.to_vec();
        sealed.truncate(usize::try_from(length).unwrap_or(0));
        let binary = self.binary_key.opened(binary_format, &sealed);
        let binary = binary.unwrap_or_default();
        // The driver refuses a negative length.
        let length = length.min(binary.len() as i32);
        // SAFETY: there are `length` bytes.
        unsafe {
            (self.gl.glProgramBinary)(program, binary_format, binary.as_ptr().cast(), length)
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_programiv(
        &mut self,
        program: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let get = self.gl.glGetProgramiv;
        self.program_parameters(program, pname, params_count, reply, get)
    }

    pub(crate) fn handwritten_gl_get_object_parameteriv_arb(
        &mut self,
        object: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let get = self.gl.glGetObjectParameterivARB;
        self.program_parameters(object, pname, params_count, reply, get)
    }

    fn program_parameters(
        &mut self,
        program: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
        get: unsafe extern "C" fn(u32, u32, *mut i32),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let program = self.object(Class::Program, program);
        let mut params = out::<i32>(params_count, 0)?;
        self.error();
        // SAFETY: there is room for the values of any parameter.
        unsafe { get(program, pname, params.as_mut_ptr()) };
        let failed = self.failed();
        if pname == GL_PROGRAM_BINARY_LENGTH && params[0] > 0 {
            params[0] = params[0].saturating_add(SEAL as i32);
        }
        reply.array(&params, if failed { 0 } else { params_count });
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_object_parameterfv_arb(
        &mut self,
        object: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let object = self.object(Class::Program, object);
        let mut params = out::<f32>(params_count, 0)?;
        self.error();
        // SAFETY: as above.
        unsafe { (self.gl.glGetObjectParameterfvARB)(object, pname, params.as_mut_ptr()) };
        let failed = self.failed();
        if pname == GL_PROGRAM_BINARY_LENGTH && params[0] > 0.0 {
            params[0] += SEAL as f32;
        }
        reply.array(&params, if failed { 0 } else { params_count });
        Ok(())
    }

    /// If a client may not use SPIR-V, the driver gets an unknown format in place of SPIR-V's.
    pub(crate) fn handwritten_gl_shader_binary(
        &mut self,
        count: i32,
        shaders: Slice<'_, u32>,
        binary_format: u32,
        binary: Slice<'_, u8>,
        length: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if (shaders.is_null() && count > 0) || (binary.is_null() && length > 0) {
            return Ok(());
        }
        let shaders = self.name_array(Class::Program, shaders).unwrap_or_default();
        let format = match binary_format {
            GL_SHADER_BINARY_FORMAT_SPIR_V if !self.accepts_spirv => GL_NONE,
            format => format,
        };
        // The copy aligns the bytes as words, which are read in place; and the client may change
        // its own bytes meanwhile.
        let bytes = binary.to_vec();
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        // SAFETY: there are `count` names and `length` bytes, and room for all bytes in the words.
        unsafe {
            let to = words.as_mut_ptr().cast::<u8>();
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            let from = words.as_ptr().cast();
            (self.gl.glShaderBinary)(count, shaders.as_ptr(), format, from, length);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: u32 = GL_PROGRAM_BINARY_FORMAT_MESA;

    #[test]
    fn a_seal_is_right_for_its_binary_format_and_key_only() {
        let key = BinaryKey::new([7; 32]);
        let sealed = key.sealed(FORMAT, b"binary".to_vec());
        assert_eq!(key.opened(FORMAT, &sealed), Some(&b"binary"[..]));
        assert_eq!(key.opened(FORMAT + 1, &sealed), None);
        assert_eq!(BinaryKey::new([8; 32]).opened(FORMAT, &sealed), None);
        for at in 0..sealed.len() {
            let mut other = sealed.clone();
            other[at] ^= 1;
            assert_eq!(key.opened(FORMAT, &other), None, "{at}");
            assert_eq!(key.opened(FORMAT, &sealed[..at]), None, "{at}");
        }
    }

    #[test]
    fn each_client_has_a_key_that_is_the_same_on_all_servers() {
        let server = BinaryKey::new([7; 32]);
        let (alice, bob) = (server.of_client("alice"), server.of_client("bob"));
        let sealed = alice.sealed(FORMAT, b"binary".to_vec());
        assert_eq!(bob.opened(FORMAT, &sealed), None);
        assert_eq!(server.opened(FORMAT, &sealed), None);
        let elsewhere = BinaryKey::new([7; 32]).of_client("alice");
        assert_eq!(elsewhere.opened(FORMAT, &sealed), Some(&b"binary"[..]));
        let other = BinaryKey::new([8; 32]).of_client("alice");
        assert_eq!(other.opened(FORMAT, &sealed), None);
    }

    #[test]
    fn keys_are_told_apart_and_not_shown() {
        let (one, other) = (BinaryKey::random(), BinaryKey::random());
        assert_ne!(one.id(), other.id());
        assert_eq!(one.id(), one.clone().id());
        assert_ne!(one.id()[..], one.0[..16]);
        assert_eq!(format!("{one:?}"), "BinaryKey(..)");
    }
}
