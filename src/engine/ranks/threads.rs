//! Threads of one process that act as ranks, for tests.

use super::{Network, Ranks};
use crate::team::locked;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError};
use std::thread;

/// Messages that have been sent but not yet received, indexed as `[receiver][sender]`.
type Boxes = Vec<Vec<VecDeque<Vec<u8>>>>;

/// Messages of ranks.
struct Post {
    /// messages of [`Network::exchange_during`] in the second array, all other messages in the first array
    boxes: Mutex<[Boxes; 2]>,
    arrived: Condvar,
    barrier: Barrier,
    /// set when a rank has panicked, so that other ranks stop waiting
    broken: AtomicBool,
    /// messages within each group that [`Network::split`] creates, by group number
    groups: Mutex<BTreeMap<usize, Arc<Post>>>,
}

impl Post {
    fn new(count: usize) -> Self {
        Post {
            boxes: Mutex::new([(); 2].map(|()| vec![vec![VecDeque::new(); count]; count])),
            arrived: Condvar::new(),
            barrier: Barrier::new(count),
            broken: AtomicBool::new(false),
            groups: Mutex::default(),
        }
    }
}

struct Thread {
    rank: usize,
    count: usize,
    post: Arc<Post>,
}

impl Thread {
    /// Puts a message into one of the two arrays of messages.
    fn put(&self, array: usize, to: usize, bytes: &[u8]) {
        locked(&self.post.boxes)[array][to][self.rank].push_back(bytes.to_vec());
        self.post.arrived.notify_all();
    }

    /// Waits for the next message of the rank `from` in one of the two arrays of messages.
    fn take(&self, array: usize, from: usize) -> Vec<u8> {
        let mut boxes = locked(&self.post.boxes);
        loop {
            match boxes[array][self.rank][from].pop_front() {
                Some(bytes) => return bytes,
                None if self.post.broken.load(Ordering::SeqCst) => panic!("another rank has panicked"),
                None => boxes = self.post.arrived.wait(boxes).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Network for Thread {
    /// Returns false, so that tests compute while messages travel, as ranks on several machines do.
    fn is_copied(&self) -> bool {
        false
    }

    fn barrier(&self) {
        self.post.barrier.wait();
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        (0..self.count).for_each(|to| self.send(to, own));
        (0..self.count).map(|from| self.receive_from(from)).collect()
    }

    fn gather_equal(&self, own: &[u8], all: &mut [u8]) {
        all.copy_from_slice(&self.gather(own).concat());
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        self.put(0, to, bytes);
    }

    fn receive(&self) -> Option<(usize, Vec<u8>)> {
        let boxes = &mut locked(&self.post.boxes)[0][self.rank];
        boxes.iter_mut().enumerate().find_map(|(from, messages)| Some((from, messages.pop_front()?)))
    }

    fn receive_from(&self, from: usize) -> Vec<u8> {
        self.take(0, from)
    }

    fn exchange(&self, to: usize, bytes: &[u8], from: usize, received: &mut [u8]) {
        self.send(to, bytes);
        received.copy_from_slice(&self.receive_from(from));
    }

    fn exchange_during(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])], work: &mut dyn FnMut()) {
        sent.iter().for_each(|(to, bytes)| self.put(1, *to, bytes));
        work();
        received.iter_mut().for_each(|(from, received)| received.copy_from_slice(&self.take(1, *from)));
    }

    fn split(&self, group: usize) -> Arc<dyn Network> {
        let groups = self.gather(&group.to_le_bytes());
        let members: Vec<usize> = (0..self.count).filter(|&rank| groups[rank] == group.to_le_bytes()).collect();
        let (count, rank) = (members.len(), members.iter().filter(|&&rank| rank < self.rank).count());
        let post = Arc::clone(locked(&self.post.groups).entry(group).or_insert_with(|| Arc::new(Post::new(count))));
        // after the barrier all members have found the entry of this group, so that another split can reuse the group
        // number
        self.barrier();
        locked(&self.post.groups).remove(&group);
        self.barrier();
        Arc::new(Thread { rank, count, post })
    }

    fn abort(&self) -> ! {
        panic!("a rank has failed")
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if thread::panicking() {
            let _boxes = locked(&self.post.boxes);
            self.post.broken.store(true, Ordering::SeqCst);
            self.post.arrived.notify_all();
        }
    }
}

impl Ranks {
    /// Runs `work` on `count` ranks at once, each in its own thread, and returns the results in the order of the ranks.
    pub fn threads<R: Send>(count: usize, work: impl Fn(Ranks) -> R + Sync) -> Vec<R> {
        let post = Arc::new(Post::new(count));
        thread::scope(|scope| {
            let start = |rank| {
                let (post, work) = (Arc::clone(&post), &work);
                scope.spawn(move || work(Ranks::over(rank, count, Arc::new(Thread { rank, count, post }))))
            };
            let threads: Vec<_> = (0..count).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("a rank has panicked")).collect()
        })
    }
}
