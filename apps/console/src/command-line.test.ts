import { expect, test } from "vitest";
import { parseCommandLine, UsageError } from "./command-line.ts";

function problemsOf(...argv: readonly string[]): readonly string[] {
  try {
    parseCommandLine(argv);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

test("without arguments the console serves loopback, in front of a local server", () => {
  expect(parseCommandLine([])).toMatchObject({
    ensembles: [{ name: undefined, hosts: "127.0.0.1:2181", adminUrls: {} }],
    kind: "serve",
    port: 8090,
    address: "127.0.0.1",
    roles: { operators: [], editors: [], viewers: [] },
  });
});

test.each([
  ["a b", 'the host of "a b" has " "'],
  ["", "it names no host"],
  ["a,,b", "host 2 of 3 is empty"],
  ["a:x", 'the port of "a:x"'],
  ["a:0", 'the port of "a:0"'],
  ["a:70000", 'the port of "a:70000"'],
  ["::1:2181", "is written [::1]:2181"],
])("a list of servers %j is refused, with a name and without one", (list, sentence) => {
  for (const given of [list, ...(list === "" ? [] : [`prod=${list}`])])
    expect(problemsOf("--server", given)).toEqual([expect.stringContaining(sentence)]);
});

test("roles are given by identities", () => {
  const command = parseCommandLine(["--editor", "digest:alice:abc=", "--viewer", "x509:CN=bob", "--editor=digest:b:c"]);
  expect(command).toMatchObject({ roles: { editors: ["digest:alice:abc=", "digest:b:c"], viewers: ["x509:CN=bob"] } });
});

test("admin ports are given by the numbers of the servers", () => {
  const command = parseCommandLine(["--admin", "1=http://zk1:8080", "--admin=02=https://zk2:8443/commands"]);
  expect(command).toMatchObject({
    ensembles: [{ adminUrls: { 1: "http://zk1:8080", 2: "https://zk2:8443/commands" } }],
  });
  expect(problemsOf("--admin", "zk1:8080", "--admin", "1=ftp://zk1")).toHaveLength(2);
});

test("a URL with credentials is refused, and they are not printed", () => {
  for (const url of ["1=http://u:hidden@zk1:8080", "1=ftp://u:hidden@zk1", "u:hidden@zk1:8080"]) {
    const problems = problemsOf("--admin", url);
    expect(problems).toHaveLength(1);
    expect(problems.join()).not.toContain("hidden");
  }
});

test("several ensembles have names, and admin ports of their own", () => {
  const servers = ["--server", "prod=zk1:2181,zk2:2181/app=1", "--server=test=zk9:2181"];
  expect(parseCommandLine([...servers, "--admin", "test/1=http://zk9:8080"])).toMatchObject({
    ensembles: [
      { name: "prod", hosts: "zk1:2181,zk2:2181/app=1", adminUrls: {} },
      { name: "test", hosts: "zk9:2181", adminUrls: { 1: "http://zk9:8080" } },
    ],
  });
  expect(parseCommandLine(["--server", "zk1:2181/app=1", "--name", "x"])).toMatchObject({
    ensembles: [{ name: "x", hosts: "zk1:2181/app=1" }],
  });
  expect(parseCommandLine(["--server", "prod=zk1:2181"])).toMatchObject({ ensembles: [{ name: "prod" }] });
});

test.each([
  [["--server", "prod=zk1", "--server", "zk2"], 1],
  [["--server", "prod=zk1", "--server", "prod=zk2"], 1],
  [["--server", "a=zk1", "--server", "b=zk2", "--name", "x"], 1],
  [["--server", "a=zk1", "--server", "b=zk2", "--admin", "1=http://zk1:8080"], 1],
  [["--server", "a=zk1", "--server", "b=zk2", "--admin", "c/1=http://zk1:8080"], 1],
])("%o is refused", (argv, count) => {
  expect(problemsOf(...argv)).toHaveLength(count);
});

test("everything that is wrong is reported at once", () => {
  expect(problemsOf("--port", "http", "--editor", "alice")).toHaveLength(2);
  expect(problemsOf("--port", "http", "--timeout=soon", "--editor", "alice")).toHaveLength(3);
  expect(problemsOf("--prot", "1").length).toBeGreaterThan(0);
});

test("any TLS option means TLS, and a certificate needs its key", () => {
  expect(parseCommandLine([])).toMatchObject({ tls: undefined });
  expect(parseCommandLine(["--tls"])).toMatchObject({ tls: { authorities: undefined } });
  expect(parseCommandLine(["--tls-ca", "ca.pem"])).toMatchObject({ tls: { authorities: "ca.pem" } });
  expect(problemsOf("--tls-cert", "own.pem")).toHaveLength(1);
  expect(problemsOf("--tls-key-password-file", "password")).toHaveLength(1);
});
