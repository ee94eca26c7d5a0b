/** A server's number in its ensemble (`myid`), 0 to 254. */
export type ServerId = number & { readonly __brand: "ServerId" };

/** Throws a RangeError that says what a server id may be. */
export function serverId(value: number): ServerId {
  if (!Number.isInteger(value) || value < 0 || value > 254) {
    throw new RangeError(`a server id is a whole number from 0 to 254, found ${value}`);
  }
  return value as ServerId;
}
