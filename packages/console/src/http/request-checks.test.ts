import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { addressOf, isFromBrowser, isSecure, requestProblem } from "./request-checks.ts";

const LOCAL = "localhost:8080";
const NAVIGATION = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

function messageOf(headers: IncomingHttpHeaders): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

function codeFor(headers: IncomingHttpHeaders, check: { isLoopback?: boolean; hosts?: readonly string[] } = {}) {
  return requestProblem(messageOf(headers), { isLoopback: true, hosts: [], ...check })?.code ?? "answered";
}

const ORIGINS: readonly (readonly [origin: string | undefined, isOwn: boolean])[] = [
  [undefined, true],
  [`http://${LOCAL}`, true],
  [`https://${LOCAL}`, true],
  ["http://localhost", false],
  ["http://localhost:8081", false],
  [`ftp://${LOCAL}`, false],
  [`http://${LOCAL}.evil.example`, false],
  ["https://evil.example", false],
  // Of a sandboxed frame, of a file.
  ["null", false],
  ["", false],
];

const SITES: readonly (readonly [site: string | undefined, isOwn: boolean])[] = [
  [undefined, true],
  ["same-origin", true],
  ["none", true],
  ["same-site", false],
  ["cross-site", false],
  ["unheard-of", false],
];

const PURPOSES: readonly (readonly [name: string, headers: IncomingHttpHeaders, opensPage: boolean])[] = [
  ["a request without a purpose", {}, false],
  ["a navigation", NAVIGATION, true],
  ["a frame", { ...NAVIGATION, "sec-fetch-dest": "iframe" }, false],
  ["a fetch", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }, false],
  ["a fetch for a document", { "sec-fetch-mode": "cors", "sec-fetch-dest": "document" }, false],
];

test.each(PURPOSES)("%s is refused where its origin or its site is another one", (_name, purpose, opensPage) => {
  for (const [origin, isOwnOrigin] of ORIGINS) {
    for (const [site, isOwnSite] of SITES) {
      const headers = { host: LOCAL, ...purpose, ...given({ origin, "sec-fetch-site": site }) };
      const isOwn = isOwnOrigin && (isOwnSite || opensPage);
      expect([headers, codeFor(headers)]).toEqual([headers, isOwn ? "answered" : "OTHER_SITE"]);
    }
  }
});

test.each([
  ["localhost", true],
  ["LOCALHOST:8080", true],
  ["127.0.0.1", true],
  ["127.1.2.3:65535", true],
  ["[::1]:8080", true],
  ["console.example", false],
  ["localhost.evil.example", false],
  ["evil.example.localhost", false],
  ["evil.localhost:8080", false],
  ["127.0.0.1.evil.example", false],
  ["127.0.0", false],
  ["localhost:port", false],
  ["[::2]", false],
  ["", false],
  [undefined, false],
])("at a console that is bound to loopback the host %s: %s", (host, isLoopback) => {
  expect(codeFor(given({ host }))).toBe(isLoopback ? "answered" : "OTHER_HOST");
});

test.each([
  { host: "console.example", own: true },
  { host: "Console.Example:443", own: true },
  { host: "zk1", own: true },
  { host: "console.example.evil", own: false },
  { host: "evil-console.example", own: false },
  { host: "localhost", own: false },
  { host: "", own: false },
])("configured names: $host is one of them: $own", ({ host, own }) => {
  const hosts = ["console.example", "ZK1"];
  expect(codeFor({ host }, { hosts, isLoopback: false })).toBe(own ? "answered" : "OTHER_HOST");
  // Beside the names, this machine is known to a console that is bound to loopback.
  expect(codeFor({ host }, { hosts })).toBe(own || host === "localhost" ? "answered" : "OTHER_HOST");
  // Without names, beyond loopback any name is answered.
  expect(codeFor({ host }, { isLoopback: false })).toBe("answered");
});

test("the names that a console answers are in the refusal of others", () => {
  const detailOf = (isLoopback: boolean) =>
    requestProblem(messageOf({ host: "evil.example" }), { isLoopback, hosts: ["console.example"] })?.detail;
  expect(detailOf(true)).toBe("this console accepts requests from this machine only, by the name localhost");
  expect(detailOf(false)).toBe("this console accepts requests for its configured host names only");
});

test("another site is refused whatever the name of the host", () => {
  const headers = { host: "console.example", origin: "https://evil.example" };
  for (const isLoopback of [true, false]) {
    expect(codeFor(headers, { isLoopback, hosts: ["console.example"] })).toBe("OTHER_SITE");
    expect(codeFor(headers, { isLoopback })).toBe("OTHER_SITE");
  }
});

test.each([
  ["a tool", {}, false],
  ["a tool that logs in", { authorization: "Basic YTpi", host: LOCAL, "user-agent": "curl" }, false],
  ["a page's origin alone", { origin: `http://${LOCAL}` }, true],
  ["an empty origin alone", { origin: "" }, true],
  ["a cookie alone", { cookie: "a=b" }, true],
  ["a site alone", { "sec-fetch-site": "same-origin" }, true],
  ["all of them", { origin: "null", cookie: "", "sec-fetch-site": "none" }, true],
])("%s: from a browser: %s", (_name, headers, expected) => {
  expect(isFromBrowser(headers)).toBe(expected);
});

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["::1", "::1"],
  ["fd00::ffff:1", "fd00::ffff:1"],
  [undefined, ""],
])("the address %s is %s", (remoteAddress, expected) => {
  const message = messageOf({});
  Object.defineProperty(message.socket, "remoteAddress", { value: remoteAddress });
  expect(addressOf(message)).toBe(expected);
  expect(isSecure(message)).toBe(false);
});

/** Headers that are there. */
function given(headers: Readonly<Record<string, string | undefined>>): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}
