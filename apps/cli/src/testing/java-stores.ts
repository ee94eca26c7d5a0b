/**
 * Stores as Java's keytool makes them, for tests and for nothing else, with the password `changeit`. The certificate is good for 127.0.0.1, for
 * servers and for clients.
 */
import { toPem } from "jks-js";

export const PASSWORD = "changeit";
/** A key and its certificate. */
export const HOST_JKS: Buffer = Buffer.from(
  `/u3+7QAAAAIAAAABAAAAAQAEaG9zdAAAAaIAxOazAAAAyDCBxTAOBgorBgEEASoCEQEBBQAEgbKta0KknOHCgfzc41P3TRcxXInC66KH
XFEXhrYz6Qle5V8650y/XNaQjudXWcgwvKPP/uSEniAU6iO5e61/NBVXW5lvtTQekifkaa8dcFNwOYLYAZJJfQagWSMbh4Df3tUMvt5S
hHYEeWlco/H1KbK+4OsWA9SRcP9M/Fsyv+Pn1Au91JCU04y9K2Bo2RfgHmKL3ahUzN2PA/Ck8LGsRDk4g7xV61hzKGrpJn42U+pEBcRz
AAAAAQAFWC41MDkAAAGtMIIBqTCCAVCgAwIBAgIUDB/HZPmeF+TdcH3CyP/jhsojUrgwCgYIKoZIzj0EAwIwHzEdMBsGA1UEAwwUem9v
aWQgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMTg0MjI0WhgPMjEyNTA2MTUxODQyMjRaMA8xDTALBgNVBAMMBGhvc3QwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAASRNqZR34B6fq6HPYqfX6X7HTjJS7XZUmyaPnUlS7ZxwQKnztWNzvPB+I0kUCh6PvxkX1W4foalCctpdD+8
xK4Fo3gwdjAVBgNVHREEDjAMhwR/AAABggR6b283MB0GA1UdJQQWMBQGCCsGAQUFBwMBBggrBgEFBQcDAjAdBgNVHQ4EFgQUFfVx8Oju
1nabfuZz045GQCFXakgwHwYDVR0jBBgwFoAUpNQxFW7hsLhiUhIdezAEFSwKCtYwCgYIKoZIzj0EAwIDRwAwRAIgAcbKex7NlIA1d24c
agw222BhOEW7OVCeJ9V6XoaUeUECIESRSjt4arRGfh5PQmiwgs5Wd1eiJP07tkozdVhqzi8ETklD+znCBIvsAyIYorZGNS1H+cQ=`,
  "base64",
);
/** Its authority's certificate. */
export const AUTHORITY_JKS: Buffer = Buffer.from(
  `/u3+7QAAAAIAAAABAAAAAgACY2EAAAGiAB+EBgAFWC41MDkAAAGYMIIBlDCCATugAwIBAgIUAup45wM1VWbTe44XRm/zrp4//Vww
CgYIKoZIzj0EAwIwHzEdMBsGA1UEAwwUem9vaWQgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMTg0MjI0WhgPMjEyNjEwMjgxODQy
MjRaMB8xHTAbBgNVBAMMFHpvb2lkIHRlc3QgYXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEtwOOsX8BmPjnTwlC
KDjvEGBQS5MbFeLaUeUWwRqnoonDSAQORg6OkQT2iCw8f7tn1Qci3VNi+dIxyzXzrkCLpaNTMFEwHQYDVR0OBBYEFKTUMRVu4bC4
YlISHXswBBUsCgrWMB8GA1UdIwQYMBaAFKTUMRVu4bC4YlISHXswBBUsCgrWMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
RwAwRAIgcn0sYIq7BB5W+JAcdt6kp5J7+8cKPomE7rD79X918Q0CIGhs2UgB1EMVnqUW7Lksr1Ge805/RI6cYvB8ayS34bp3Jl2a
lYQIhA6cH7YE97lSKsGLiVc=`,
  "base64",
);
/** The same in the newer form. */
export const AUTHORITY_PKCS12: Buffer = Buffer.from(
  `MIIDAgIBAzCCAqwGCSqGSIb3DQEHAaCCAp0EggKZMIIClTCCApEGCSqGSIb3DQEHBqCCAoIwggJ+AgEAMIICdwYJKoZIhvcNAQcB
MGYGCSqGSIb3DQEFDTBZMDgGCSqGSIb3DQEFDDArBBQstKs6RLYmB1lX8DVo2tSf+krNlAICJxACASAwDAYIKoZIhvcNAgkFADAd
BglghkgBZQMEASoEECJlAGLAtZJSDE5ye1uCFSCAggIADSKDDIgwAUbI1ejZxSOUozvjbrDxPohSP5tBr1gM22r1j4YhDY6Xttt+
LEUsBq4Ef6vgs520AYCbgXaesbfgENNpXoUlQleHZkEkOFhWBZQfXRr3U2OguFqT0eumZcSIE9MztxHWBXI6nIcWoPDser3ir2LB
vWyip9k7DiidNCVf9Uz0jIbxGug06nj+oy7kwbhUCVym8d/MhV7z/6VeS9BQPzCIeiYs/bfSJsLKvRtCCnD+F7HGhlGHL8tv12NZ
WgV4D9L+iLVu3caPnG08AzM0B/OcAgOC/FLv7uP57TebRUfY87wdVvn6Kb27cE2sHK7VwWLN3XteyTTqTzQBFD0Q+7iJZKnlT2QO
mX1LWSuxBtIyQOxOTPhVobP+PipOi4Yz7T9pIUW/NZ8RTiqAJRS4+gcIcRwq2meRAtOFXl5xBbd4qB0wJwQ13vuAxUrj7D4JlTRo
b1A+R1pLuRGQkzzA9GL69ENDnJb3aJwnJ2XymJIPylRhqHoREO5R4UrUEPjveGsH7ds10E38OaPGQp5BIR695FOfF1X6FkBZKm3M
Wri4a5urD45342ssEXxaXHZ9R6uv0sm/PgdkjrG9xg3I4J6Dyn2lDjcpBPhKovrUpP7o2wIjQCVAP/IEl4ugq+Ifk6uTrD5kw0hP
Z3v5vfH+FAQrkNpEzLoDYh7zCbYwTTAxMA0GCWCGSAFlAwQCAQUABCDFPqtYp+4SH88s5m+YFLbKLuhF23ZOihvfAH3jiJJebQQU
sOpBieW5+w4NEjWeYQEsSukfckUCAicQ`,
  "base64",
);

/** The same key, its certificate and its authority's, in PEM. */
export function pemOfHost(): { readonly key: string; readonly cert: string; readonly authority: string } {
  const { key = "", cert = "" } = toPem(HOST_JKS, PASSWORD)["host"] ?? {};
  const { ca = "" } = toPem(AUTHORITY_JKS, PASSWORD)["ca"] ?? {};
  return { key, cert, authority: ca };
}
