//! The entries that become ready later, soonest first.

use super::entry::{Entries, Order, Pending};
use super::moment::Moment;

/// A binary heap that knows where each entry stands in it.
///
/// A key that is added again while it waits moves or leaves at once; a heap with lazy deletion would keep a dead element per
/// event of a busy key until its old deadline, which may be hours away.
#[derive(Debug)]
pub(super) struct Waiting {
    heap: Vec<Node>,
    next_order: Order,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    due: Moment,
    order: Order,
    address: u32,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { heap: Vec::new(), next_order: Order::default() }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// When the soonest entry is due.
    #[inline]
    pub(super) fn next_due(&self) -> Option<Moment> {
        self.heap.first().map(|node| node.due)
    }

    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, address: u32, due: Moment) {
        let entry = &mut entries[address];
        entry.at = due;
        entry.pending = Pending::Waiting;
        self.heap.push(Node { due, order: self.next_order.advance(), address });
        self.sift_up(entries, self.heap.len() - 1);
    }

    /// Makes an entry due sooner.
    pub(super) fn advance<K>(&mut self, entries: &mut Entries<K>, address: u32, due: Moment) {
        let entry = &mut entries[address];
        entry.at = due;
        let position = entry.heap_position() as usize;
        self.heap[position].due = due;
        self.sift_up(entries, position);
    }

    pub(super) fn remove<K>(&mut self, entries: &mut Entries<K>, address: u32) {
        let entry = &mut entries[address];
        entry.pending = Pending::No;
        let position = entry.heap_position() as usize;
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            let position = self.sift_up(entries, position);
            self.sift_down(entries, position);
        }
        if self.heap.len() < self.heap.capacity() / 8 && self.heap.capacity() > SMALL {
            self.heap.shrink_to(self.heap.len() * 2);
        }
    }

    /// Takes out the soonest entry if it is due, and tells since when.
    #[inline]
    pub(super) fn pop_due<K>(&mut self, entries: &mut Entries<K>, now: Moment) -> Option<(u32, Moment)> {
        let Node { due, address, .. } = *self.heap.first().filter(|node| node.due <= now)?;
        self.remove(entries, address);
        Some((address, due))
    }

    /// Forgets all entries, and returns their addresses.
    pub(super) fn clear(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.heap).into_iter().map(|node| node.address).collect()
    }

    fn sift_up<K>(&mut self, entries: &mut Entries<K>, mut position: usize) -> usize {
        let node = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if !node.is_before(self.heap[parent]) {
                break;
            }
            self.place(entries, self.heap[parent], position);
            position = parent;
        }
        self.place(entries, node, position);
        position
    }

    fn sift_down<K>(&mut self, entries: &mut Entries<K>, mut position: usize) {
        let node = self.heap[position];
        while let Some(child) = self.sooner_child(position) {
            if !self.heap[child].is_before(node) {
                break;
            }
            self.place(entries, self.heap[child], position);
            position = child;
        }
        self.place(entries, node, position);
    }

    fn sooner_child(&self, position: usize) -> Option<usize> {
        let (left, right) = (2 * position + 1, 2 * position + 2);
        let left_node = *self.heap.get(left)?;
        match self.heap.get(right) {
            Some(&right_node) if right_node.is_before(left_node) => Some(right),
            _ => Some(left),
        }
    }

    fn place<K>(&mut self, entries: &mut Entries<K>, node: Node, position: usize) {
        self.heap[position] = node;
        let position =
            u32::try_from(position).expect("the heap holds no more entries than there are addresses");
        entries[node.address].set_heap_position(position);
    }
}

impl Node {
    /// Whether it becomes ready first. The order of being added decides between equal deadlines.
    fn is_before(self, other: Self) -> bool {
        self.due < other.due || (self.due == other.due && self.order.is_before(other.order))
    }
}

/// Below this many nodes a heap is not worth shrinking.
const SMALL: usize = 1024;
