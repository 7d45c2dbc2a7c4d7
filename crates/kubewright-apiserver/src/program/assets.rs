//! A folder for test environments that look for programs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;

/// Makes a folder with `kube-apiserver` and `etcd`, for test environments such as Go's envtest.
///
/// Both are links to this program, which takes their flags. `kubectl` is linked where it is found. The line that is
/// printed tells test environments of the folder: `eval "$(kubewright-apiserver assets DIRECTORY)"`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder. It is made if it is not there; links in it are replaced, files are not.
    directory: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let directory = &options.directory;
    fs::create_dir_all(directory).with_context(|| format!("failed to make {}", directory.display()))?;
    let directory = directory.canonicalize().context("failed to find the folder just made")?;
    let program = std::env::current_exe().context("failed to find this program")?;
    link(&program, &directory.join("kube-apiserver"))?;
    link(&program, &directory.join("etcd"))?;
    match on_path("kubectl") {
        Some(kubectl) => link(&kubectl, &directory.join("kubectl"))?,
        None => eprintln!("kubectl is not on the PATH; tests that call it will miss it"),
    }
    println!("export KUBEBUILDER_ASSETS='{}'", directory.display());
    Ok(())
}

fn link(program: &Path, name: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(name) {
        Ok(found) if found.is_symlink() => {
            fs::remove_file(name)
                .with_context(|| format!("failed to replace the link {}", name.display()))?;
        }
        Ok(_) => bail!("{} is there and no link; remove it, or choose another folder", name.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("failed to look at {}", name.display())),
    }
    std::os::unix::fs::symlink(program, name).with_context(|| format!("failed to link {}", name.display()))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
