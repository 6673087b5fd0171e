//! Compiles the `.proto` files with `protox`, so that no foreign compiler is needed, and keeps the descriptors for
//! reflection.

use std::error::Error;
use std::path::Path;

const FILES: [&str; 7] = [
    "corridor/v1/types.proto",
    "corridor/v1/analysis.proto",
    "corridor/v1/positions.proto",
    "corridor/v1/book_types.proto",
    "corridor/v1/book.proto",
    "corridor/v1/fleet.proto",
    "corridor/v1/cache.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    for file in FILES {
        println!("cargo::rerun-if-changed={file}");
    }
    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_source_info(true).include_imports(true).open_files(FILES)?;

    let out_dir = std::env::var("OUT_DIR")?;
    std::fs::write(
        Path::new(&out_dir).join("corridor_descriptor.bin"),
        compiler.encode_file_descriptor_set(),
    )?;
    tonic_prost_build::configure()
        .emit_rerun_if_changed(false)
        .compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
