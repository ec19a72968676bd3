//! What leaves too little room for a timeline, as its header says it.

/// What bounds the size of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The space of the file system, or a quota of it.
    FileSystem = 1,
    /// The limit on the size of files (`ulimit -f`).
    FileSize = 2,
    /// The memory limit of a control group, such as that of a container.
    ControlGroup = 3,
    /// The memory of the machine.
    Machine = 4,
    /// The limit on the address space of the process (`ulimit -v`).
    AddressSpace = 5,
}

impl Bound {
    /// All of them.
    pub const ALL: [Bound; 5] = [
        Bound::FileSystem,
        Bound::FileSize,
        Bound::ControlGroup,
        Bound::Machine,
        Bound::AddressSpace,
    ];

    /// The one with that number in a header.
    pub fn from_number(number: u32) -> Option<Bound> {
        Bound::ALL.into_iter().find(|bound| *bound as u32 == number)
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Bound::FileSystem => "file system",
            Bound::FileSize => "file size",
            Bound::ControlGroup => "control group",
            Bound::Machine => "machine",
            Bound::AddressSpace => "address space",
        }
    }

    /// What it does to the bytes that there is room for: "8,000 bytes are ...".
    pub fn leaves(self) -> &'static str {
        match self {
            Bound::FileSystem => "free",
            Bound::FileSize => "allowed by the limit on the size of files",
            Bound::ControlGroup => "left by the memory limit of the control group",
            Bound::Machine => "left of the memory of the machine",
            Bound::AddressSpace => "left by the limit on the address space",
        }
    }
}
