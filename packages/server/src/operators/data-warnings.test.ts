import { CHAIN_NONE, composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { dataWarnings } from "./data-warnings.ts";

const WHOLE = { amnesiac: false, committedConfig: undefined, tail: { zxid: composeZxid(3, 7), chain: CHAIN_NONE } };
const CONFIGURED = { ...WHOLE, committedConfig: new Uint8Array(1) };

test.each([
  ["a whole member", CONFIGURED, true, []],
  ["a member without a configuration", WHOLE, true, []],
  [
    "a member that lost its log",
    { ...CONFIGURED, amnesiac: true },
    true,
    [/^log-lost the log in \/log .* 0x300000007,/],
  ],
  ["a server alone", WHOLE, false, []],
  ["the only voter of an ensemble, alone", CONFIGURED, false, [/^serves-alone .*standaloneEnabled=false/]],
])("%s begins with these warnings", (_, durable, isMember, expected) => {
  const lines = dataWarnings(durable, { isMember, logDir: "/log" }).map(({ event, text }) => `${event} ${text}`);
  expect(lines).toEqual(expected.map((line) => expect.stringMatching(line)));
});
