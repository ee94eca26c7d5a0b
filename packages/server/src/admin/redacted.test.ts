import { expect, test } from "vitest";
import { redacted } from "./redacted.ts";

test.each([
  ["ssl.keyStore.password=hunter2", "ssl.keyStore.password=***"],
  [
    "zookeeper.DigestAuthenticationProvider.superDigest: super:abc=",
    "zookeeper.DigestAuthenticationProvider.superDigest: ***",
  ],
  ["ssl.trustStore.passwordPath /etc/pass", "ssl.trustStore.passwordPath ***"],
  ["  zooid.peerSecretFile = /etc/secret", "  zooid.peerSecretFile = ***"],
  ["a.password=one\\\n two\\\nthree\nclientPort=1", "a.password=***\n***\n***\nclientPort=1"],
  ["a.password=one\r\nclientPort=1\r\n", "a.password=***\nclientPort=1\r\n"],
  ["clientPort=2181\n# password=old\n#clientPort=2\n", "clientPort=2181\n# password=***\n#clientPort=2\n"],
])("%j is shown as %j", (text, shown) => {
  expect(redacted(text)).toBe(shown);
});
