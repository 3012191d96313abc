//! `cargo xtask mutants`: the engines are broken on purpose, one named way at a time, in a copy of the
//! project; a named test must see each.

mod list;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::{demo, shell, tree};
use list::{MUTANTS, Mutant};

/// A test that a mutant makes run forever is ended after this; that counts as seen.
const PATIENCE: Duration = Duration::from_secs(600);

/// What became of a mutant.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Caught,
    Survived,
}

/// Breaks the engines in every way of the list, or in the one of this name, and prints which were seen.
///
/// # Errors
/// Fails when one survives, does not fit the source any more, does not build, or its test fails without it.
pub(crate) fn run(name: Option<&str>) -> Result<()> {
    let mutants = MUTANTS.iter();
    let chosen: Vec<&Mutant> = mutants
        .filter(|mutant| name.is_none_or(|name| name == mutant.name))
        .collect();
    ensure!(!chosen.is_empty(), "no mutant of this name");
    let copy = Copy::new()?;
    println!("building the copy and its tests …");
    let mut failed = Vec::new();
    for mutant in chosen {
        let start = Instant::now();
        let fate = copy.judge(mutant);
        let seconds = start.elapsed().as_secs();
        match &fate {
            Ok(fate) => println!("{fate:?}: {} ({}), {seconds} s", mutant.name, mutant.what),
            Err(error) => println!("No mutant: {}: {error:#}", mutant.name),
        }
        if !matches!(fate, Ok(Fate::Caught)) {
            failed.push(mutant.name);
        }
    }
    if failed.is_empty() {
        println!("every mutant was caught");
        return Ok(());
    }
    bail!("not caught: {}", failed.join(", "))
}

/// A copy of the project with a target folder of its own.
struct Copy(PathBuf);

impl Copy {
    /// Brings the copy up to date; files that are the same keep their times, so that little is built again.
    fn new() -> Result<Self> {
        let copy = Self(demo::target().join("mutants"));
        let root = shell::root();
        let paths = tree::paths(&root)?;
        for path in &paths {
            let Ok(bytes) = fs::read(root.join(path)) else {
                continue; // Deleted, and git does not know yet.
            };
            copy.put(path, &bytes)?;
        }
        let old = tree::walked(&copy.tree())?;
        for path in old.iter().filter(|path| !paths.contains(path)) {
            fs::remove_file(copy.tree().join(path))?;
        }
        Ok(copy)
    }

    fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.tree().join(path)).with_context(|| path.to_owned())
    }

    /// Writes a file unless it holds these bytes already.
    fn put(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let target = self.tree().join(path);
        if fs::read(&target).is_ok_and(|have| have == bytes) {
            return Ok(());
        }
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(target, bytes).with_context(|| path.to_owned())
    }

    /// Runs the mutant's test without it, which must pass, and with it.
    fn judge(&self, mutant: &Mutant) -> Result<Fate> {
        let whole = self.read(mutant.file)?;
        let mutated = mutant.apply(&whole)?;
        self.build(mutant)?;
        ensure!(self.test(mutant)?, "{} fails without it", mutant.test);
        self.put(mutant.file, mutated.as_bytes())?;
        let passed = self.build(mutant).and_then(|()| self.test(mutant));
        self.put(mutant.file, whole.as_bytes())?;
        Ok(if passed? {
            Fate::Survived
        } else {
            Fate::Caught
        })
    }

    fn build(&self, mutant: &Mutant) -> Result<()> {
        shell::output(self.cargo(mutant).arg("--no-run")).map(drop)
    }

    /// Runs the mutant's test and returns whether it passed; a run without the test is an error.
    fn test(&self, mutant: &Mutant) -> Result<bool> {
        let log = self.0.join("test.log");
        let mut cargo = self.cargo(mutant);
        cargo
            .args([mutant.test, "--", "--exact"])
            .stdin(Stdio::null());
        cargo
            .stdout(File::create(&log)?)
            .stderr(File::create(self.0.join("errors.log"))?);
        let mut child = cargo.spawn()?;
        let Ok(status) = shell::wait(&mut child, PATIENCE) else {
            return Ok(false);
        };
        let ran = fs::read_to_string(&log)?.contains("running 1 test");
        ensure!(ran, "no test is named {}", mutant.test);
        Ok(status.success())
    }

    fn cargo(&self, mutant: &Mutant) -> Command {
        let mut cargo = shell::cargo(&["test", "--locked", "--package", mutant.package]);
        cargo
            .args(mutant.target)
            .current_dir(self.tree())
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }
}

impl Mutant {
    /// Returns the source with the mutation, which must fit exactly one place.
    fn apply(&self, source: &str) -> Result<String> {
        let places = source.matches(self.from).count();
        ensure!(
            places == 1,
            "{}: its text stands {places} times in {}",
            self.name,
            self.file
        );
        Ok(source.replacen(self.from, self.to, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mutant that no longer fits would test nothing.
    #[test]
    fn every_mutant_fits_the_source() {
        for mutant in &MUTANTS {
            let source = fs::read_to_string(shell::root().join(mutant.file)).unwrap();
            let mutated = mutant.apply(&source).unwrap();
            assert_ne!(mutated, source, "{}", mutant.name);
        }
    }
}
