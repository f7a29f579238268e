//! Link options of the C library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmanganese.so.0");
    // Its threads and fork handler must not lose their code when the program unloads it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
