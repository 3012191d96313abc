//! A program for another one to start: it hands its pipes to the test that plays it, and ends when
//! and as it is told.

#![expect(
    clippy::expect_used,
    reason = "a puppet without a test has nothing to do"
)]

use std::io::{IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::ExitCode;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

fn main() -> ExitCode {
    let name = std::env::args_os().nth(1).expect("a name");
    let address = SocketAddr::from_abstract_name(name.as_bytes()).expect("a name of a socket");
    let mut control = UnixStream::connect_addr(&address).expect("a test that listens");
    hand_over(&control);
    let mut code = [0];
    match control.read_exact(&mut code) {
        Ok(()) => ExitCode::from(code[0]),
        Err(_) => ExitCode::SUCCESS,
    }
}

/// Sends the ends of the pipes, with the process id, and keeps none of them.
fn hand_over(control: &UnixStream) {
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let ends = [stdin.as_fd(), stdout.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    message.push(SendAncillaryMessage::ScmRights(&ends));
    let pid = std::process::id().to_ne_bytes();
    sendmsg(
        control,
        &[IoSlice::new(&pid)],
        &mut message,
        SendFlags::empty(),
    )
    .expect("the pipes go over");
    let nothing = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .expect("an empty file");
    rustix::stdio::dup2_stdin(&nothing).expect("no input");
    rustix::stdio::dup2_stdout(&nothing).expect("no output");
}
