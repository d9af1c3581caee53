//! Tests of collective functions and messages on ranks that are threads.

use super::*;
use crate::error::Problem;

#[test]
fn the_first_rank_collects_the_bytes_of_all() {
    let found = Ranks::threads(3, |ranks| ranks.collect_bytes(&vec![ranks.rank() as u8; 2 * ranks.rank()]));
    assert_eq!(found, [Some(vec![vec![], vec![1; 2], vec![2; 4]]), None, None]);
}

#[test]
fn the_first_rank_sends_each_rank_its_value() {
    let values = ["a", "b", "c"].map(str::to_owned);
    let found = Ranks::threads(3, |ranks| {
        ranks.scatter(|rank| {
            assert!(ranks.is_first());
            values[rank].clone()
        })
    });
    assert_eq!(found, values);
    assert_eq!(Ranks::alone().scatter(|rank| rank), 0);
}

#[test]
fn a_broadcast_reaches_every_rank_once_in_few_rounds() {
    for count in 1..70 {
        let mut arrival = vec![0; count]; // round in which a rank has the message
        for rank in 0..count {
            for (turn, to) in receivers(rank, count).enumerate() {
                assert!(rank < to && arrival[to] == 0 && sender(to) == rank, "{rank} to {to} of {count}");
                arrival[to] = arrival[rank] + turn + 1;
            }
        }
        assert!(arrival[1..].iter().all(|&round| (1..=rounds(count)).contains(&round)), "{count}: {arrival:?}");
    }
    let received = Ranks::threads(6, |ranks| {
        if !ranks.is_first() {
            return [(); 2].map(|()| ranks.receive_broadcast::<String>());
        }
        ["a", "b"].map(|message| {
            ranks.broadcast(&message);
            Some(message.to_owned())
        })
    });
    assert!(received.iter().all(|found| found.each_ref().map(Option::as_deref) == [Some("a"), Some("b")]));
    assert_eq!(Ranks::alone().receive_broadcast::<u8>(), None);
}

#[test]
fn values_reach_the_ranks_for_which_they_are() {
    let found = Ranks::threads(4, |ranks| {
        let own = ranks.rank();
        ranks.exchange_some((0..4).map(|to| (own <= to).then(|| "x".repeat(10 * own + to))).collect())
    });
    for (to, received) in found.into_iter().enumerate() {
        let expected = (0..4).map(|from| (from <= to).then(|| "x".repeat(10 * from + to)));
        assert_eq!(received, expected.collect::<Vec<_>>());
    }
}

#[test]
fn parts_travel_while_ranks_exchange_other_messages() {
    let found = Ranks::threads(4, |ranks| {
        let own = ranks.rank() as u32;
        // the rank that follows after k places receives k numbers, and the last rank sends nothing to the first
        let length = |from: usize, to: usize| if (from, to) == (3, 0) { 0 } else { (to + 4 - from) % 4 };
        let partners = || ranks.partners();
        let to = partners().map(|(to, _)| (to, length(ranks.rank(), to)));
        let from = partners().map(|(_, from)| (from, length(from, ranks.rank())));
        let mut received = vec![0u32; from.clone().map(|(_, length)| length).sum()];
        let sent: Vec<u32> = to.clone().flat_map(|(to, length)| vec![10 * own + to as u32; length]).collect();
        let mut sum = [f64::from(own)];
        ranks.for_purpose(Purpose::Mesh).exchange_during(&sent, to, &mut received, from, || ranks.sum(&mut sum));
        (received, sum, ranks.sent().of(Purpose::Mesh))
    });
    let expected: [(&[u32], u64); 4] = [
        (&[20, 20, 10, 10, 10], 3),
        (&[1, 31, 31, 21, 21, 21], 3),
        (&[12, 2, 2, 32, 32, 32], 3),
        (&[23, 13, 13, 3, 3, 3], 2),
    ];
    for ((received, sum, sent), (numbers, messages)) in found.iter().zip(expected) {
        assert_eq!((&received[..], sum, sent.messages), (numbers, &[6.0], messages));
    }
}

#[test]
fn groups_have_networks_of_their_own() {
    let sums = Ranks::threads(5, |ranks| {
        let group = ranks.split(ranks.rank() / 2);
        let leaders = ranks.split(usize::from(!group.is_first()));
        // a message sent in the network `group` must not arrive in the network `leaders`
        if group.is_first() {
            group.broadcast(&ranks.rank());
        }
        ranks.barrier();
        assert!(leaders.receive::<usize>().is_none());
        // the barrier ensures that all ranks have checked for messages before a rank sends a message to the leaders
        ranks.barrier();
        let first = if group.is_first() { None } else { group.receive_broadcast::<usize>() };
        (group.rank(), group.count(), first, group.gather(&ranks.rank()), leaders.gather(&ranks.rank()))
    });
    assert_eq!(sums[0], (0, 2, None, vec![0, 1], vec![0, 2, 4]));
    assert_eq!(sums[3], (1, 2, Some(2), vec![2, 3], vec![1, 3]));
    assert_eq!(sums[4], (0, 1, None, vec![4], vec![0, 2, 4]));
}

#[test]
fn one_rank_is_all_ranks() {
    let ranks = Ranks::alone();
    assert_eq!((ranks.rank(), ranks.count(), ranks.is_first()), (0, 1, true));
    assert_eq!(ranks.gather(&("a".to_owned(), 7)), [("a".to_owned(), 7)]);
    assert_eq!(ranks.gather_bytes(&[1, 2]), [[1, 2]]);
    assert_eq!(ranks.collect_bytes(&[1, 2]).unwrap(), [[1, 2]]);
    assert_eq!(ranks.agree(Ok(3)).unwrap(), 3);
    assert!(ranks.receive::<u8>().is_none());
    ranks.barrier();
}

#[test]
fn an_error_arrives_as_it_was() {
    let problem = Problem::new("what").in_file("input.toml".as_ref()).at_line(3).at_span(4..9).help("how");
    let error = Ranks::alone().agree::<()>(Err(problem.clone().into())).unwrap_err();
    assert!(matches!(&error, Error::Input(problems) if problems[..] == [problem]), "{error:?}");
    for error in [Error::unstable("hot", [3, 4]), Error::io("a/b".as_ref(), "full"), Error::Device("cold".into())] {
        let again: Error = decode(&encode(&error));
        assert_eq!(format!("{again:?}"), format!("{error:?}"));
    }
}
