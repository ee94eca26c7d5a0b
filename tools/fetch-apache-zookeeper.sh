#!/usr/bin/env bash
# Fetches Apache ZooKeeper's server and command line from Maven Central, for comparison; prints the folder of jars.
#
#   fetch-apache-zookeeper.sh [VERSION]        default 3.9.5; the folder is .cache/apache-zookeeper-VERSION
#
# A folder that was completed once is left as it is.
set -euo pipefail
version=${1:-3.9.5}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jars=$root/.cache/apache-zookeeper-$version
if [ -f "$jars/.complete" ]; then
    echo "$jars"
    exit
fi
if ! command -v mvn >/dev/null; then
    echo "fetch-apache-zookeeper.sh: mvn is missing (apt-get install maven)" >&2
    exit 1
fi

artifacts=(
    "org.apache.zookeeper:zookeeper:$version"
    # The server and zkCli need these at run time; the pom leaves them to the binary distribution.
    com.fasterxml.jackson.core:jackson-databind:2.15.2
    ch.qos.logback:logback-classic:1.3.15
    commons-cli:commons-cli:1.5.0
    io.dropwizard.metrics:metrics-core:4.1.12.1
    org.eclipse.jetty:jetty-server:9.4.57.v20241219
    org.eclipse.jetty:jetty-servlet:9.4.57.v20241219
    org.xerial.snappy:snappy-java:1.1.10.5
)
mkdir -p "$jars"
{
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>zooid</groupId><artifactId>comparison</artifactId><version>1</version><dependencies>'
    for artifact in "${artifacts[@]}"; do
        IFS=: read -r group name number <<<"$artifact"
        echo "<dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$number</version></dependency>"
    done
    echo '</dependencies></project>'
} >"$jars/pom.xml"
mvn --quiet --batch-mode --file "$jars/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$jars" >&2
touch "$jars/.complete"
echo "$jars"
