/** Where a console's cookie is sent. */
export interface CookiePlace {
  readonly port: number | undefined;
  /**
   * Beginning of the ensemble's paths where the port serves several, such as `/ensembles/test`;
   * else empty.
   */
  readonly prefix: string;
}

/**
 * Cookies are shared by all ports of a host, and those with the path `/` by all ensembles of a
 * port: the name has the port and the ensemble, so that two consoles do not log each other out.
 */
export function cookieName({ port, prefix }: CookiePlace): string {
  return `zooid-console-${port ?? 0}${prefix.replace(/^.*\//, "-")}`;
}

export function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name && value !== undefined && value !== "") return value;
  }
  return undefined;
}

export function sessionCookie(place: CookiePlace, token: string, secure: boolean): string {
  return `${cookieName(place)}=${token}; Path=${place.prefix}/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

export function endedCookie(place: CookiePlace, secure: boolean): string {
  return `${sessionCookie(place, "", secure)}; Max-Age=0`;
}
