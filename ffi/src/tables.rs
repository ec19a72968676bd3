//! Unwind tables: whether the unwinder can go on from a frame to the one that called it.
//!
//! LuaJIT registers tables for the code that it compiles, so that an exception finds a handler
//! there. They do not say where a frame ends, because no exception leaves it, and libgcc ends the
//! program (`abort`) if a walk is to go on from there. So a walk has to stop before.

use std::ffi::c_void;

unsafe extern "C" {
    /// Of libgcc and LLVM's libunwind: the description of the function at an address, or NULL.
    fn _Unwind_Find_FDE(at: *const c_void, bases: *mut [usize; 3]) -> *const u8;
}

/// Whether the table for the code at this address says where a frame ends. Where there is no table,
/// the unwinder ends the walk by itself.
///
/// As safe in a signal handler as the unwinder.
pub(crate) fn leads_on(address: usize) -> bool {
    let mut bases = [0; 3];
    let at = std::ptr::without_provenance(address);
    // SAFETY: any address will do, and `bases` has the size of `struct dwarf_eh_bases`.
    let function = unsafe { _Unwind_Find_FDE(at, &raw mut bases) };
    if function.is_null() {
        return true;
    }
    // SAFETY: the unwinder relies on the same: at the place of the function's description are its
    // length and the distance to what it has in common with others.
    let common = unsafe {
        let distance = function.add(4);
        distance.offset(-(distance.cast::<i32>().read_unaligned() as isize))
    };
    // SAFETY: a description of 32 bits, as both lengths are checked to be.
    unsafe { has_instructions(common) }
}

/// Whether a common description (CIE) has an instruction other than `DW_CFA_nop`. Those of
/// compilers begin with where a frame ends.
///
/// # Safety
/// `common` is a CIE of .eh_frame, of any contents that the unwinder understands.
unsafe fn has_instructions(common: *const u8) -> bool {
    // SAFETY: by contract, a length that does not count itself, and so many bytes.
    let bytes = unsafe {
        let length = common.cast::<u32>().read_unaligned();
        if length == u32::MAX {
            return true;
        }
        std::slice::from_raw_parts(common.add(4), length as usize)
    };
    instructions(bytes).is_none_or(|all| all.iter().any(|byte| *byte != 0))
}

/// The instructions of a CIE without its length; `None` if it is of no known form.
fn instructions(common: &[u8]) -> Option<&[u8]> {
    let (_, rest) = common.split_at_checked(4)?;
    let (version, rest) = rest.split_first()?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (augmentation, rest) = (&rest[..end], &rest[end + 1..]);
    // The factors of code and data, and the register of the return address.
    let rest = number(number(rest)?.1)?.1;
    let rest = match version {
        1 => rest.get(1..)?,
        _ => number(rest)?.1,
    };
    match augmentation.first() {
        None => Some(rest),
        Some(b'z') => {
            let (length, rest) = number(rest)?;
            rest.get(length..)
        }
        Some(_) => None,
    }
}

/// A number in LEB128, of which only those without a sign are looked at, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let (own, rest) = bytes.split_at(end + 1);
    let add = |sum: usize, byte: &u8| sum.checked_mul(0x80)?.checked_add((byte & 0x7f).into());
    Some((own.iter().rev().try_fold(0, add)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_compilers_lead_on() {
        assert!(leads_on(
            functions_of_compilers_lead_on as *const () as usize + 1
        ));
        assert!(leads_on(leads_on as *const () as usize + 1));
        assert!(leads_on(1));
    }

    #[test]
    fn the_description_of_luajit_has_no_instructions() {
        let luajit = [
            0, 0, 0, 0, 1, b'z', b'P', b'R', 0, 1, 0x78, 16, 10, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0x1b,
            0, 0, 0, 0, 0,
        ];
        assert_eq!(instructions(&luajit), Some(&[0; 5][..]));
        let gcc = [
            0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
        ];
        assert_eq!(instructions(&gcc), Some(&[0x0c, 7, 8, 0x90, 1, 0, 0][..]));
        let plain = [0, 0, 0, 0, 3, 0, 1, 0x78, 0x90, 1, 0x0c];
        assert_eq!(instructions(&plain), Some(&[0x0c][..]));
        for length in 0..luajit.len() - 5 {
            assert_eq!(instructions(&luajit[..length]), None, "{length}");
        }
        assert_eq!(
            instructions(&[0, 0, 0, 0, 1, b'e', b'h', 0, 1, 1, 1, 1]),
            None
        );
    }
}
