//! Counts the connections of each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// How many connections each address has, of those that count here.
pub struct AddressLimit {
    most: usize,
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// The place of a connection among those of its address. It is free again when this is dropped.
pub struct AddressPlace(Arc<AddressLimit>, IpAddr);

impl AddressLimit {
    /// `most`: of one address.
    pub fn new(most: usize) -> Arc<AddressLimit> {
        Arc::new(AddressLimit {
            most,
            counts: Mutex::default(),
        })
    }

    /// Counts a connection. `None` if its address has too many.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<AddressPlace> {
        let address = address.to_canonical();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(AddressPlace(Arc::clone(self), address))
    }
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        let counts = self.0.counts.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_no_more() {
        let limit = AddressLimit::new(2);
        let (one, other): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        let (first, _second) = (limit.enter(one).unwrap(), limit.enter(mapped).unwrap());
        assert!(limit.enter(one).is_none() && limit.enter(other).is_some());
        drop(first);
        assert!(limit.enter(mapped).is_some());
        assert_eq!(limit.counts.lock().unwrap().len(), 1);
    }
}
