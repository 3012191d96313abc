//! System calls that fail when a test says so: a filter of the kernel on a thread of its own.

use std::thread;

use rustix::fs::{OFlags, RenameFlags};
use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replace) enum Call {
    /// A file is created.
    Create,
    Pwrite,
    CopyFileRange,
    Ftruncate,
    Fchown,
    Fchmod,
    Fsetxattr,
    Fsync,
    Linkat,
    Flock,
    Lseek,
    Renameat,
    Exchange,
    NoReplace,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::replace) struct Fault {
    call: Call,
    errno: Errno,
}

impl Fault {
    pub(in crate::replace) const fn always(call: Call, errno: Errno) -> Self {
        Self { call, errno }
    }

    /// Runs `act` on a thread where the call fails; the test's own threads are left alone.
    pub(in crate::replace) fn during<T: Send>(self, act: impl FnOnce() -> T + Send) -> T {
        during_all(&[self], act)
    }

    fn program(self) -> BpfProgram {
        let (number, rules) = self.call.rules();
        let errno = self.errno.raw_os_error().unsigned_abs();
        let filter = SeccompFilter::new(
            [(number, rules)].into(),
            SeccompAction::Allow,
            SeccompAction::Errno(errno),
            std::env::consts::ARCH.try_into().unwrap(),
        );
        filter.unwrap().try_into().unwrap()
    }
}

pub(in crate::replace) fn during_all<T: Send>(
    faults: &[Fault],
    act: impl FnOnce() -> T + Send,
) -> T {
    let filtered = move || {
        for fault in faults {
            seccompiler::apply_filter(&fault.program()).unwrap();
        }
        act()
    };
    thread::scope(|scope| scope.spawn(filtered).join().unwrap())
}

impl Call {
    fn rules(self) -> (i64, Vec<SeccompRule>) {
        let bits = |argument, bits: u64| {
            let equal = SeccompCmpOp::MaskedEq(bits);
            let condition =
                SeccompCondition::new(argument, SeccompCmpArgLen::Dword, equal, bits).unwrap();
            vec![SeccompRule::new(vec![condition]).unwrap()]
        };
        match self {
            Self::Create => (number(257, 56), bits(2, OFlags::CREATE.bits().into())),
            Self::Pwrite => (number(18, 68), Vec::new()),
            Self::CopyFileRange => (number(326, 285), Vec::new()),
            Self::Ftruncate => (number(77, 46), Vec::new()),
            Self::Fchown => (number(93, 55), Vec::new()),
            Self::Fchmod => (number(91, 52), Vec::new()),
            Self::Fsetxattr => (number(190, 7), Vec::new()),
            Self::Fsync => (number(74, 82), Vec::new()),
            Self::Flock => (number(73, 32), Vec::new()),
            Self::Lseek => (number(8, 62), Vec::new()),
            Self::Linkat => (number(265, 37), Vec::new()),
            Self::Renameat => (number(264, 38), Vec::new()),
            Self::Exchange => (
                number(316, 276),
                bits(4, RenameFlags::EXCHANGE.bits().into()),
            ),
            Self::NoReplace => (
                number(316, 276),
                bits(4, RenameFlags::NOREPLACE.bits().into()),
            ),
        }
    }
}

fn number(x86_64: i64, aarch64: i64) -> i64 {
    match std::env::consts::ARCH {
        "x86_64" => x86_64,
        "aarch64" => aarch64,
        other => panic!("no system call numbers for {other}"),
    }
}

#[test]
fn a_fault_hits_its_call_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    std::fs::write(&file, "old").unwrap();
    let opened = std::fs::File::open(&file).unwrap();
    let create = || std::fs::File::create(dir.path().join("g")).map(drop);
    let failed = Fault::always(Call::Create, Errno::NOSPC).during(|| {
        std::fs::read(&file).unwrap();
        create().unwrap_err().raw_os_error()
    });
    assert_eq!(failed, Some(Errno::NOSPC.raw_os_error()));
    create().unwrap();
    let synced = Fault::always(Call::Fsync, Errno::IO).during(|| rustix::fs::fsync(&opened));
    assert_eq!(synced, Err(Errno::IO));
}
