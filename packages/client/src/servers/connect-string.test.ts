import { expect, test } from "vitest";
import { formatAddress, parseConnectString } from "./connect-string.ts";

test.each([
  ["a", [{ host: "a", port: 2181 }], "/"],
  [
    "a:1,b",
    [
      { host: "a", port: 1 },
      { host: "b", port: 2181 },
    ],
    "/",
  ],
  [
    " a:1 , b:2 /x/y",
    [
      { host: "a", port: 1 },
      { host: "b", port: 2 },
    ],
    "/x/y",
  ],
  [
    "bücher.example:1,xn--bcher-kva_1:2",
    [
      { host: "bücher.example", port: 1 },
      { host: "xn--bcher-kva_1", port: 2 },
    ],
    "/",
  ],
  [
    "[::1]:9,[fe80::1],[1:2:3:4:5:6:7:8],[fe80::1%eth0]:5",
    [
      { host: "::1", port: 9 },
      { host: "fe80::1", port: 2181 },
      { host: "1:2:3:4:5:6:7:8", port: 2181 },
      { host: "fe80::1%eth0", port: 5 },
    ],
    "/",
  ],
])("%j names its hosts and its chroot", (text, hosts, chroot) => {
  expect(parseConnectString(text)).toEqual({ hosts, chroot });
});

test.each([
  ["", /names no host/],
  ["/x", /names no host/],
  ["a:0", /port of "a:0"/],
  ["a:65536,b:x", /port of "a:65536".*port of "b:x"/],
  [":1", /":1" has no host/],
  ["a:b:c", /"a:b:c" is no host and port/],
  ["::1:99999", /"::1:99999" is no host and port/],
  ["::2", /an IPv6 address has brackets: "::2" is written \[::2\]:2181/],
  ["::1:2182", /"::1:2182" is written \[::1\]:2182 or \[::1:2182\]:2181/],
  ["[a]:1", /"a" in "\[a\]:1" is no IPv6 address/],
  ["[]:1", /"" in "\[\]:1" is no IPv6 address/],
  ["a b", /the host of "a b" has " "; hosts are separated by commas/],
  ["a;b", /the host of "a;b" has ";"/],
  ["a=b", /the host of "a=b" has "="/],
  ["a\u202e:1", /the host of "a\\u202e:1" has "\\u202e"/],
  ["a,,b", /host 2 of 3 is empty: a comma too many/],
  ["a,", /host 2 of 2 is empty/],
  [",a", /host 1 of 2 is empty/],
  [",", /host 1 of 2 is empty/],
  ["a:", /port of "a:"/],
  ["a:+1", /port of "a:\+1"/],
  ["a:01", /port of "a:01"/],
  ["x".repeat(256), /more than 255 characters/],
  ["a/x/", /ends in \//],
  ["a//x", /empty segment/],
  ["a:1/shop/", /give "\/shop"/],
  ["zookeeper://a:2181/shop", /zookeeper:\/\/.*give "a:2181\/shop"/],
  ["zk://a", /give "a"/],
])("%j is refused with what is wrong", (text, fault) => {
  expect(() => parseConnectString(text)).toThrow(fault);
});

test("a formatted address parses to the same address", () => {
  expect([formatAddress({ host: "a", port: 1 }), formatAddress({ host: "::1", port: 2 })]).toEqual(["a:1", "[::1]:2"]);
});

test("a service's name stands for the servers of its SRV records", () => {
  const hosts = [{ host: "_zookeeper._tcp.example.com", port: 0, isService: true }];
  expect(parseConnectString("dns-srv://_zookeeper._tcp.example.com")).toEqual({ hosts, chroot: "/" });
  expect(parseConnectString("dns-srv://_zookeeper._tcp.example.com/a/b")).toEqual({ hosts, chroot: "/a/b" });
  expect(hosts.map((host) => formatAddress({ ...host, isService: true }))).toEqual([
    "dns-srv://_zookeeper._tcp.example.com",
  ]);
});

test.each(["dns-srv://", "dns-srv://a:2181", "dns-srv://a,b", "dns-srv:///a", "dns-srv://a//b"])(
  "%s is refused",
  (text) => {
    expect(() => parseConnectString(text)).toThrow(RangeError);
  },
);

test.each([
  ["a:1/app,b:2/app", "a:1,b:2/app"],
  ["a/app/x, b/app/x, c/app/x", "a,b,c/app/x"],
])("%j, with the chroot behind each host, is refused with the form that is meant", (text, meant) => {
  expect(() => parseConnectString(text)).toThrow(
    `the chroot stands once, behind the last host; give ${JSON.stringify(meant)}`,
  );
});

test("a comma in a chroot is part of it", () => {
  expect(parseConnectString("a:1/app,old").chroot).toBe("/app,old");
});
