/**
 * Groups neighbours of a sequence under their keys. A group's values are made while it is read, and
 * are skipped where they are not; undefined stands for a step that made nothing.
 */
export function* grouped<K, V>(
  pairs: Iterator<readonly [key: K, value: V] | undefined>,
): Generator<readonly [key: K, values: Iterable<V | undefined>] | undefined, void, undefined> {
  let ahead = pairs.next();
  const step = (): void => {
    ahead = pairs.next();
  };
  while (ahead.done !== true) {
    if (ahead.value === undefined) {
      yield undefined;
      step();
      continue;
    }
    const [key, first] = ahead.value;
    const values = function* (): Generator<V | undefined, void, undefined> {
      yield first;
      for (step(); ahead.done !== true; step()) {
        if (ahead.value !== undefined && ahead.value[0] !== key) return;
        yield ahead.value?.[1];
      }
    };
    yield [key, values()];
  }
}
