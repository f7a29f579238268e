//! Link options of the C library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmanganese.so.0");
    // The code of the library's threads and fork handler must stay when the program unloads the
    // library.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
