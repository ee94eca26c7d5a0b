import { expect, test } from "vitest";
import { jvmSettings } from "./jvm-flags.ts";

test.each<[string, readonly (readonly [string, string])[]]>([
  ["", []],
  ["-Xmx1g -Dcom.sun.management.jmxremote -Djava.net.preferIPv4Stack=true", []],
  ["-Dzookeeper.skipACL=yes", [["zookeeper.skipACL", "yes"]]],
  [
    "  -Xms1g\n-Djute.maxbuffer=0x200000 -Dreadonlymode.enabled=true",
    [
      ["jute.maxbuffer", "0x200000"],
      ["readonlymode.enabled", "true"],
    ],
  ],
  ['-Djava.security.auth.login.config="/etc/zoo keeper/jaas.conf"', [["jaasLoginConfig", "/etc/zoo keeper/jaas.conf"]]],
  ["'-Dzookeeper.superUser=CN=a b'", [["zookeeper.superUser", "CN=a b"]]],
  ["-Dzookeeper.flag -D=x -Dzookeeper.=y", [["zookeeper.", "y"]]],
])("%j", (flags, settings) => {
  expect(jvmSettings({ SERVER_JVMFLAGS: flags }).map(({ key, value }) => [key, value])).toEqual(settings);
});
