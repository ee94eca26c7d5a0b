/**
 * The field tags, in `peer.proto`, of what is written and read by hand. A tag is three bits of wire
 * type behind the field's number, so in octal the last digit is the type: 0 a varint, 1 eight
 * bytes, 2 a length and as many bytes.
 */

export const EnvelopeTag = { entries: 0o412, ack: 0o502, commit: 0o512, forward: 0o632 } as const;

export const EntriesTag = {
  epoch: 0o10,
  previous: 0o21,
  first: 0o31,
  last: 0o41,
  count: 0o50,
  committed: 0o61,
  check: 0o70,
  run: 0o102,
} as const;
export const ForwardTag = { count: 0o10, run: 0o22 } as const;
export const AckTag = { epoch: 0o10, durable: 0o21, check: 0o30 } as const;
export const CommitTag = { epoch: 0o10, committed: 0o21 } as const;
