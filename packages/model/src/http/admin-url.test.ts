import { expect, test } from "vitest";
import { adminUrlFault } from "./admin-url.ts";

const NO_URL = "expected a URL such as http://host:8080, found";
const SECRETS = "expected a URL without a user and a password, found";

test.each([
  ["http://zk1:8080", undefined],
  ["https://[::1]:8443/commands", undefined],
  ["zk1:8080", `${NO_URL} "zk1:8080"`],
  ["ftp://zk1", `${NO_URL} "ftp://zk1"`],
  ["http://u:hidden@zk1:8080", `${SECRETS} "http://***@zk1:8080"`],
  ["http://hidden@zk1", `${SECRETS} "http://***@zk1"`],
  ["https://:hidden@zk1", `${SECRETS} "https://***@zk1"`],
  ["http://u:hid@den@zk1", `${SECRETS} "http://***@zk1"`],
  ["ftp://u:hidden@zk1", `${NO_URL} "ftp://***@zk1"`],
  ["u:hidden@zk1:8080", `${NO_URL} "***@zk1:8080"`],
  ["http://u:hid/den@zk1:8080", `${NO_URL} "http://***@zk1:8080"`],
])("of %s the fault is %s", (text, fault) => {
  expect(adminUrlFault(text)).toBe(fault);
});
