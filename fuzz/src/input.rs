//! Choices and texts, read from the front of the input; an input that is over gives zeros.

/// The bytes that are left.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Returns the choices that `data` holds.
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    /// Takes a byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// Takes a number of two bytes.
    pub(crate) fn number(&mut self) -> u64 {
        u64::from(self.byte()) << 8 | u64::from(self.byte())
    }

    /// Takes up to so many bytes.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (head, tail) = self.0.split_at(len.min(self.0.len()));
        self.0 = tail;
        head
    }

    /// Takes a text: a byte that says how long it is, and its bytes; what is no UTF-8 is replaced.
    pub(crate) fn text(&mut self) -> String {
        let len = usize::from(self.byte());
        String::from_utf8_lossy(self.take(len)).into_owned()
    }

    /// Takes all that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}
