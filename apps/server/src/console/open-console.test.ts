import { expect, test } from "vitest";
import { applySettings } from "../configuration/config-file.ts";

function settingsOf(...pairs: readonly (readonly [key: string, value: string])[]) {
  return applySettings(pairs.map(([key, value]) => ({ key, value, where: "test" }))).console;
}

test("users of the console come from the configuration", () => {
  expect(
    settingsOf(
      ["zooid.console.editors", "digest:alice:abc=; x509:CN=bob,O=Example"],
      ["zooid.console.hostNames", "Console.Example, zk1"],
      ["zooid.console.enabled", "true"],
      ["zooid.console.adminPorts", "2=http://zk2:8080, 3=https://zk3:8443/commands"],
    ),
  ).toEqual({
    isEnabled: true,
    editors: ["digest:alice:abc=", "x509:CN=bob,O=Example"],
    hostNames: ["console.example", "zk1"],
    adminUrls: { 2: "http://zk2:8080", 3: "https://zk3:8443/commands" },
  });
});

test.each([
  ["zooid.console.enabled", "perhaps"],
  ["zooid.console.viewers", "alice"],
  ["zooid.console.operators", "digest:alice"],
  ["zooid.console.adminPorts", "zk2:8080"],
  ["zooid.console.adminPorts", "2=http://u:secret@zk2:8080"],
])("%s=%s stops the start", (key, value) => {
  expect(() => settingsOf([key, value])).toThrow(key);
});
