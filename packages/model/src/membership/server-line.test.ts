import { describe, expect, test } from "vitest";
import { parseServerLine } from "./server-line.ts";

const plain = { host: "zoo1", quorumPort: 2888, electionPort: 3888, isObserver: false };

describe("read", () => {
  test.each<[string, object]>([
    ["zoo1:2888:3888", { ...plain, clientAddress: undefined, otherAddressCount: 0 }],
    ["zoo1:2888:3888:participant", plain],
    ["zoo1:2888:3888:OBSERVER", { isObserver: true }],
    ["zoo1:2888:3888;2181", { clientAddress: { port: 2181 } }],
    ["zoo1:2888:3888;", { clientAddress: undefined }],
    ["zoo1:2888:3888:observer;10.0.0.1:2181", { isObserver: true, clientAddress: { host: "10.0.0.1", port: 2181 } }],
    ["[2001:db8::1]:2888:3888;[::1]:2181", { host: "2001:db8::1", clientAddress: { host: "::1", port: 2181 } }],
    ["zoo1:2888:3888|zoo1b:2889:3889", { ...plain, otherAddressCount: 1 }],
    ["zoo1:2888:3888|zoo1b:2889:3889:observer;2181", { host: "zoo1", isObserver: true, clientAddress: { port: 2181 } }],
    [" zoo1 : 2888 : 3888 ; 2181 ", { ...plain, clientAddress: { port: 2181 } }],
  ])("%s", (value, expected) => {
    expect(parseServerLine(value)).toMatchObject(expected);
  });
});

describe("refused", () => {
  test.each([
    ["zoo1", "is of the form host:quorumPort:electionPort"],
    ["", "is of the form"],
    ["zoo1:2888", "is of the form"],
    ["zoo1:2888:x", "is of the form"],
    ["zoo1:2888:3888:observer:7", "is of the form"],
    ["2001:db8::1:2888:3888", "is of the form"],
    [":2888:3888", "is of the form"],
    ["zoo1:2888:3888:voter", 'names a participant or an observer, found "voter"'],
    ["zoo1:2888:3888;x", 'has a client port, or a client address and port, behind its ";", found "x"'],
    ["zoo1:2888:3888;1;2", 'found a second ";"'],
  ])("%s", (value, text) => {
    expect(parseServerLine(value)).toEqual(expect.stringContaining(text));
  });
});
