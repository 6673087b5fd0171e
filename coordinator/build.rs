//! Lists the files of the page, each also in compressed form, for `dashboard/assets.rs`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("src/dashboard/assets");
    let out = PathBuf::from(variable("OUT_DIR")?);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    files.sort();
    let version = version(&files)?;
    let mut list = format!(
        "/// Names the content of all files together.\nconst VERSION: &str = {version:?};\nstatic ASSETS: &[Asset] = &[\n"
    );
    for mut file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = kind(&file)?;
        if name == "index.html" {
            // What the page asks for never changes under its address, so that a browser that has it need not ask.
            let text = fs::read_to_string(&file)?.replace("\"/assets/", &format!("\"/assets/{version}/"));
            file = out.join(&name);
            fs::write(&file, text)?;
        }
        let packed = out.join(format!("{name}.gz"));
        fs::write(&packed, compressed(&fs::read(&file)?)?)?;
        writeln!(
            list,
            "    Asset {{ name: {name:?}, kind: {kind:?}, plain: include_bytes!({file:?}), packed: include_bytes!({packed:?}) }},"
        )
        .map_err(io::Error::other)?;
    }
    list.push_str("];\n");
    fs::write(out.join("assets.rs"), list)
}

/// Two sets of files have different names, as good as always.
fn version(files: &[PathBuf]) -> io::Result<String> {
    // FNV-1a, 64 bits (Fowler, Noll, Vo).
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

fn compressed(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain)?;
    encoder.finish()
}

fn kind(file: &Path) -> io::Result<&'static str> {
    match file.extension().and_then(|it| it.to_str()) {
        Some("html") => Ok("text/html; charset=utf-8"),
        Some("css") => Ok("text/css; charset=utf-8"),
        Some("js") => Ok("text/javascript; charset=utf-8"),
        Some("svg") => Ok("image/svg+xml"),
        _ => Err(io::Error::other(format!("{}: no content type is known for it", file.display()))),
    }
}
