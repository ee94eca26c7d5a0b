/**
 * The messages of every write, byte by byte, as they lie behind the header of a frame:
 *
 * ```
 *  tag of the member · its length │ fields of the member
 *  ───────────────────────────────┼───────────────────────────────────────────────────────────
 *  Entries   8a 02 · 4 bytes      │ 08 epoch  11 previous  19 first  21 last  28 count
 *                                 │ 31 committed  38 check  42 length run
 *              run of entries:    │   zxid u64 · length u32 · record │ zxid u64 · …
 *  Forward   9a 03 · 4 bytes      │ 08 count  12 length run
 *              run of requests:   │   sequence f64 · session i64 · client u32 · length u32 · frame │ …
 *  Ack       c2 02 · 4 bytes      │ 08 epoch  11 durable  18 check
 *  Commit    ca 02 · 4 bytes      │ 08 epoch  11 committed
 * ```
 *
 * The length of the member is a varint that always has four bytes, see `InPlaceWriter`. Epochs,
 * counts and checks are varints, zxids eight bytes. A field that is 0 is left out, as in all of
 * protobuf. Protobuf's eight bytes begin with the lowest one, but those of a run, which protobuf
 * does not look into, with the highest: the log takes a run as it is.
 *
 * So an ack takes some 25 bytes on a link, with the frame's eight, and the entries of one write
 * take some 70 more than its record.
 *
 * A tag is three bits of wire type behind the field's number, so in octal the last digit is the
 * type: 0 a varint, 1 eight bytes, 2 a length and as many bytes.
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
