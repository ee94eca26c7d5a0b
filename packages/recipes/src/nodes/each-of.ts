import { isZkError } from "@zooid/client";

/** Requests at a time: more would fill the client's queue, and make other calls wait. */
const PARALLEL_MAX = 64;

/**
 * The answers to a request for each item, in order. Requests for which the client's queue has no
 * room are repeated when the others have their answers.
 *
 * @throws the error of the first item that has one; QUEUE_FULL while other calls take all the room
 */
export async function eachOf<T, R>(items: readonly T[], request: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers = new Map<number, R>();
  let left = items.map((item, place) => ({ item, place }));
  while (left.length > 0) {
    const sent = left.slice(0, PARALLEL_MAX);
    const outcomes = await Promise.allSettled(sent.map(({ item }) => request(item)));
    const refused: typeof left = [];
    let isAnyAnswered = false;
    for (const [i, asked] of sent.entries()) {
      const outcome = outcomes[i];
      if (outcome?.status === "fulfilled") {
        answers.set(asked.place, outcome.value);
        isAnyAnswered = true;
      } else if (isZkError(outcome?.reason, "QUEUE_FULL")) refused.push(asked);
      else throw outcome?.reason;
    }
    const [first] = outcomes;
    if (!isAnyAnswered && first?.status === "rejected") throw first.reason;
    left = [...refused, ...left.slice(PARALLEL_MAX)];
  }
  return items.map((_, place) => answers.get(place) as R);
}
