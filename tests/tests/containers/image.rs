//! The image: our static binary on an empty base, built with the repository's own `Dockerfile`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Weak};

use testcontainers::bollard::query_parameters::RemoveImageOptions;
use testcontainers::core::client::docker_client_instance;
use testcontainers::runners::AsyncBuilder;
use testcontainers::{GenericBuildableImage, GenericImage};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// Where the `Dockerfile` looks for the binary unless told otherwise.
const BINARY_IN_CONTEXT: &str = "target/x86_64-unknown-linux-gnu/release/corridor";

/// An image that only this run knows; removed when dropped.
pub(crate) struct Image {
    name: String,
    built: GenericImage,
    binary_bytes: u64,
}

/// The image of this run: built when the first test needs it, shared by those that run or wait, gone with the last of them.
pub(crate) async fn image() -> Arc<Image> {
    static SHARED: Mutex<Weak<Image>> = Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(image) = shared.upgrade() {
        return image;
    }
    let image = Arc::new(Image::build().await);
    *shared = Arc::downgrade(&image);
    image
}

impl Image {
    async fn build() -> Self {
        const NAME: &str = "corridor-test";
        let (root, tag) = (root(), unique());
        let binary = static_binary(&root);
        let binary_bytes = binary.metadata().expect("a file").len();
        let context = GenericBuildableImage::new(NAME, &tag)
            .with_dockerfile(root.join("Dockerfile"))
            .with_file(binary, BINARY_IN_CONTEXT);
        let licences = ["LICENSE-APACHE", "LICENSE-MIT"];
        let context =
            licences.iter().fold(context, |context, &file| context.with_file(root.join(file), file));
        let built = context.build_image().await.expect("an image");
        Self { name: format!("{NAME}:{tag}"), built, binary_bytes }
    }

    /// What containers are made of.
    pub(crate) fn built(&self) -> GenericImage {
        self.built.clone()
    }

    /// Size of the binary in it.
    pub(crate) fn binary_bytes(&self) -> u64 {
        self.binary_bytes
    }

    /// Name and tag.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        finish(async {
            let docker = docker_client_instance().await.expect("Docker");
            let options = RemoveImageOptions { force: true, ..RemoveImageOptions::default() };
            if let Err(error) = docker.remove_image(&self.name, Some(options), None).await {
                eprintln!("the image {} stays: {error}", self.name);
            }
        });
    }
}

/// Does to its end what a destructor cannot wait for.
pub(crate) fn finish(work: impl Future<Output = ()>) {
    tokio::task::block_in_place(|| Handle::current().block_on(work));
}

/// A word that no other run has used.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned()
}

/// Builds the binary, or finds that it is built already: Cargo keeps it beside everything else that tests need. It has the
/// profile of the tests, which takes a fraction of a release's time and has all assertions on.
fn static_binary(root: &Path) -> PathBuf {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let is_static = format!("target.{target}.rustflags=['-Ctarget-feature=+crt-static']");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root).args([
        "build",
        "--locked",
        "--package",
        "corridor-cli",
        "--profile",
        "image-test",
    ]);
    cargo.args(["--target", &target, "--config", &is_static, "--message-format", "json-render-diagnostics"]);
    // They would take the place of all flags from files.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let built = cargo.output().expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let messages = String::from_utf8(built.stdout).expect("text");
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).expect("a message of cargo's");
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.expect("a binary")
}
