//! Go programs of ours, which measure what is written in Go.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

/// A program of `bench/peers/go`, built. The file is removed when this is dropped.
#[derive(Debug)]
pub struct GoProgram {
    file: PathBuf,
}

impl GoProgram {
    /// Builds the program in the folder `name`.
    ///
    /// # Errors
    /// If Go is not installed, or the program's modules cannot be had.
    pub fn build(name: &str) -> Result<Self> {
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers/go");
        let file = std::env::temp_dir().join(format!("kubewright-bench-{name}-{}", std::process::id()));
        let output = Command::new("go")
            .current_dir(&module)
            .args(["build", "-o"])
            .arg(&file)
            .arg(format!("./{name}"))
            .output()
            .context("failed to run `go build`")?;
        if !output.status.success() {
            bail!("`go build` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(Self { file })
    }

    /// Where the program is.
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for GoProgram {
    fn drop(&mut self) {
        // A leftover in the temporary folder is not worth failing for.
        let _ = std::fs::remove_file(&self.file);
    }
}
