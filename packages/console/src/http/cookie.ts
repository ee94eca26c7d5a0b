/** Cookies are shared by all ports of a host: the name has the port, so that two consoles on one machine do not log each other out. */
export function cookieName(port: number | undefined): string {
  return `zooid-console-${port ?? 0}`;
}

export function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name && value !== undefined && value !== "") return value;
  }
  return undefined;
}

export function sessionCookie(name: string, token: string, secure: boolean): string {
  return `${name}=${token}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

export function endedCookie(name: string, secure: boolean): string {
  return `${sessionCookie(name, "", secure)}; Max-Age=0`;
}
