//! A folder with a session in it.

use std::fs;
use std::path::PathBuf;

use acp_fs::{
    Buffers, Cancel, FileMethods, FileOptions, MissingFile, ReadTextFile, Reply, Request, RpcError,
    Saved, Stale, TextFile, WriteTextFile,
};
use fs_sandbox::{HistoryLimits, RealPlace, Rights, Workspace};
use tempfile::TempDir;

/// A root that a session works in, with a folder beside it.
pub(crate) struct Place {
    folder: TempDir,
}

/// The methods over a place, with one session named `s`.
pub(crate) struct Open<B> {
    pub(crate) methods: FileMethods<B>,
    root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("beside")).unwrap();
        fs::write(folder.path().join("beside/secret.txt"), "secret\n").unwrap();
        Self { folder }
    }

    /// Returns a path below the folder, by its real name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("root").join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path("root").join(name)).unwrap()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let rights = Rights::READ | Rights::EDIT | Rights::DELETE;
        Workspace::builder()
            .root("root", &self.path("root"), rights)
            .history(&self.path("state"), HistoryLimits::default())
            .build()
            .unwrap()
    }

    pub(crate) fn open<B: Buffers>(&self, buffers: B) -> Open<B> {
        self.open_with(buffers, FileOptions::default())
    }

    pub(crate) fn open_stale<B: Buffers>(&self, buffers: B, stale: Stale) -> Open<B> {
        let options = FileOptions {
            stale,
            ..FileOptions::default()
        };
        self.open_with(buffers, options)
    }

    pub(crate) fn open_with<B: Buffers>(&self, buffers: B, options: FileOptions) -> Open<B> {
        let methods = FileMethods::new(self.workspace(), buffers).with_options(options);
        let root = self.path("root");
        let opened = methods.open_session("s", std::slice::from_ref(&root), MissingFile::Error);
        opened.unwrap();
        Open { methods, root }
    }
}

impl<B: Buffers> Open<B> {
    fn absolute(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> Result<TextFile, RpcError> {
        self.window(name, None, None)
    }

    pub(crate) fn window(
        &self,
        name: &str,
        line: Option<u32>,
        limit: Option<u32>,
    ) -> Result<TextFile, RpcError> {
        let request = Request::Read(ReadTextFile {
            session_id: "s".to_owned(),
            path: self.absolute(name),
            line,
            limit,
        });
        match self.methods.call(&request, &Cancel::default())? {
            Reply::Text(text) => Ok(text),
            Reply::Saved(saved) => panic!("{saved:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        self.read(name).unwrap().content
    }

    /// Returns the place of a file as requests for it are put in order by.
    pub(crate) fn place_of(&self, name: &str) -> Option<RealPlace> {
        self.methods.place_of(&Request::Read(ReadTextFile {
            session_id: "s".to_owned(),
            path: self.absolute(name),
            line: None,
            limit: None,
        }))
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> Result<Saved, RpcError> {
        self.send(name, content, false)
    }

    /// Writes as an agent does that shows CR LF as LF and says that it has.
    pub(crate) fn write_turned(&self, name: &str, content: &str) -> Result<Saved, RpcError> {
        self.send(name, content, true)
    }

    #[expect(clippy::fn_params_excessive_bools, reason = "the field of the request")]
    fn send(&self, name: &str, content: &str, turned_breaks: bool) -> Result<Saved, RpcError> {
        let request = Request::Write(WriteTextFile {
            session_id: "s".to_owned(),
            path: self.absolute(name),
            content: content.to_owned(),
            turned_breaks,
        });
        match self.methods.call(&request, &Cancel::default())? {
            Reply::Saved(saved) => Ok(saved),
            Reply::Text(text) => panic!("{text:?}"),
        }
    }
}

/// Checks the number and the code of an error.
#[track_caller]
pub(crate) fn check<T: std::fmt::Debug>(result: Result<T, RpcError>, number: i32, code: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.code, error.stable_code()), (number, code), "{error}");
}
