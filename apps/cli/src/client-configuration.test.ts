import { expect, test } from "vitest";
import { parseClientConfiguration, readClientConfiguration } from "./client-configuration.ts";

test("the largest answer is taken over, what does nothing is told", () => {
  const text = "jute.maxbuffer=0x500000\nzookeeper.client.secure = false\nzookeeper.request.timeout=5\n";
  expect(parseClientConfiguration(text, "f.cfg")).toEqual({
    frameBytesMax: 0x500000,
    warnings: ["f.cfg: zookeeper.request.timeout has no effect here"],
  });
});

test.each([
  ["zookeeper.client.secure=true", "f.cfg: zookeeper.client.secure=true cannot be honoured: TLS is not supported yet"],
  ["jute.maxbuffer=much", 'f.cfg: jute.maxbuffer takes bytes from 1024 to 2147483647, found "much"'],
])("%s is refused", (text, sentence) => {
  expect(() => parseClientConfiguration(text, "f.cfg")).toThrow(sentence);
});

test("a file that is not there is named", () => {
  expect(() => readClientConfiguration("/no/such/file")).toThrow("cannot read the client configuration /no/such/file");
});
