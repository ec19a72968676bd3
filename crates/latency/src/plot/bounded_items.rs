//! Keeps a bounded number of items for each label: neighbours become one.

use super::MOST_LABELS;
use super::error::{Error, Result};

/// What can stand for itself and its neighbour.
pub trait Join {
    fn join(&mut self, next: Self);
}

/// Items in their order, at most so many, by labels in the order in which they appeared.
#[derive(Debug, Clone)]
pub struct LabelMap<T> {
    /// An even number.
    most: usize,
    labels: Vec<Label<T>>,
}

/// The items of a label.
#[derive(Debug, Clone)]
pub struct Label<T> {
    pub name: String,
    pub items: Vec<T>,
    /// How many of what was pushed an item stands for, and how many the last one does so far.
    each: usize,
    last: usize,
}

impl<T: Join> LabelMap<T> {
    pub fn new(most: usize) -> LabelMap<T> {
        LabelMap {
            most: most.next_multiple_of(2),
            labels: Vec::new(),
        }
    }

    /// Adds the next item of a label.
    pub fn push(&mut self, name: &str, item: T) -> Result<()> {
        let known = self.labels.iter().position(|label| label.name == name);
        let number = match known {
            Some(number) => number,
            None if self.labels.len() == MOST_LABELS => {
                return Err(Error::TooManyLabels { most: MOST_LABELS });
            }
            None => {
                self.labels.push(Label {
                    name: name.to_owned(),
                    items: Vec::new(),
                    each: 1,
                    last: 0,
                });
                self.labels.len() - 1
            }
        };
        self.labels[number].push(item, self.most);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Label<T>> {
        self.labels.iter()
    }

    /// The items of all labels.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.labels.iter().flat_map(|label| &label.items)
    }
}

impl<T: Join> Label<T> {
    fn push(&mut self, item: T, most: usize) {
        match self.items.last_mut() {
            Some(last) if self.last < self.each => {
                last.join(item);
                self.last += 1;
            }
            _ => {
                self.items.push(item);
                self.last = 1;
            }
        }
        if self.items.len() > most {
            let mut items = std::mem::take(&mut self.items).into_iter();
            while let Some(mut item) = items.next() {
                if let Some(next) = items.next() {
                    item.join(next);
                }
                self.items.push(item);
            }
            // There was an odd number, so the last one stands for one thing as before.
            self.each *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Join for Vec<usize> {
        fn join(&mut self, next: Self) {
            self.extend(next);
        }
    }

    #[test]
    fn all_items_are_kept_in_equal_parts() {
        for count in 0..200 {
            let mut labels = LabelMap::new(8);
            for number in 0..count {
                labels.push("a", vec![number]).unwrap();
                labels.push("b", vec![number]).unwrap();
            }
            for label in labels.iter() {
                assert!(label.items.len() <= 8);
                assert_eq!(label.items.concat(), (0..count).collect::<Vec<_>>());
                let (last, others) = label.items.split_last().unwrap();
                assert!(others.iter().all(|item| item.len() == label.each));
                assert_eq!(last.len(), label.last);
            }
        }
    }
}
