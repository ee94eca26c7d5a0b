import { hostPort } from "@zooid/model";
import { type Finding, finding } from "../finding.ts";
import type { PortFacts, PortFault, PortHolder } from "./port-facts.ts";

/** Ports that the server cannot bind. */
export function portFindings(ports: readonly PortFacts[]): readonly Finding[] {
  return ports.flatMap((port) => (port.fault === undefined ? [] : [portFinding(port, port.fault)]));
}

function portFinding(port: PortFacts, fault: PortFault): Finding {
  const found = `${port.setting}, ${placeText(port)}, ${reasonText(fault)}`;
  const id = port.isOptional ? "optional-port-closed" : fault.kind === "taken" ? "port-taken" : "port-refused";
  return finding(id, port.subject, found, remedyOf(port, fault));
}

function placeText({ host, port }: PortFacts): string {
  return host === "*" ? `port ${port} on every address` : hostPort(host, port);
}

function reasonText(fault: PortFault): string {
  switch (fault.kind) {
    case "taken":
      return `is taken by ${holderText(fault.holder)}`;
    case "privileged":
      return "needs more rights than the user of this check has";
    case "elsewhere":
      return "has an address that no interface of this machine has";
    case "other":
      return `cannot be bound: ${fault.reason}`;
  }
}

function holderText(holder: PortHolder | undefined): string {
  const { pid, program, uid } = holder ?? {};
  if (pid !== undefined) return `${program ?? "a program"} (process ${pid})`;
  return uid === undefined ? "another program" : `a program of user ${uid}`;
}

function remedyOf({ setting, port }: PortFacts, fault: PortFault): string {
  const other = `set another port for ${setting}`;
  switch (fault.kind) {
    case "taken": {
      const pid = fault.holder?.pid;
      const end = pid === undefined ? "end the program" : `end the program (kill ${pid})`;
      return `${end}, or ${other}; as root, ss -ltnp 'sport = :${port}' names the program`;
    }
    case "privileged":
      return `${other}, above 1023, or allow it to all users (sysctl net.ipv4.ip_unprivileged_port_start=${port})`;
    case "elsewhere":
      return "correct the address; ip -brief address lists those of this machine";
    case "other":
      return other;
  }
}
