package org.apache.zookeeper.metrics.prometheus;

/** Stands for the class of that name, which Apache's parser looks for, and whose jar is not fetched. */
public final class PrometheusMetricsProvider {}
