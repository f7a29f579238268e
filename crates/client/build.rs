//! Link options of the vendor library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Programs dlclose libGL; our presenter thread and fork handler must not lose their code then.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
