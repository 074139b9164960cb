"""Expressions of every type that Spark hands to Python."""

#: one expression per type that Spark hands to Python, of the row's number `id`
EVERY_TYPE = {
    "flag": "id % 2 = 0",
    "tiny": "CAST(id AS TINYINT)",
    "small": "CAST(id AS SMALLINT)",
    "whole": "CAST(id AS INT)",
    "single": "CAST(id / 3 AS FLOAT)",
    "double": "IF(id % 7 = 0, DOUBLE('NaN'), id / 3)",
    "cents": "CAST(id / 4 AS DECIMAL(9, 2))",
    "huge": "CAST(id AS DECIMAL(38, 10)) * 1e10BD",
    "text": "IF(id % 5 = 0, NULL, concat('ä', id))",
    "fixed": "CAST(id AS CHAR(5))",
    "short": "CAST(id AS VARCHAR(5))",
    "bytes": "CAST(CAST(id AS STRING) AS BINARY)",
    "day": "date_add(DATE'1582-10-01', CAST(id AS INT))",
    "moment": "TIMESTAMP'2024-03-31 00:30:00' + id * INTERVAL '10' MINUTE",
    "local": "TIMESTAMP_NTZ'2024-03-31 00:30:00' + id * INTERVAL '10' MINUTE",
    "span": "id * INTERVAL '1 02:03:04.567' DAY TO SECOND",
    "clock": "TIME'01:02:03'",
    "nothing": "NULL",
    "list": "IF(id % 4 = 0, NULL, array(id, NULL))",
    "lists": "array(array('a'), NULL, array())",
    "map": "map('a', id, 'b', NULL)",
    "struct": "IF(id % 6 = 0, NULL, named_struct('a', id, 'b.c', TIMESTAMP'2024-03-31 00:30:00'))",
    "nested": "array(named_struct('m', map(1, array(DATE'2020-01-01'))))",
    "variant": "parse_json(concat('[', id, ', null]'))",
    "with.dot": "id",
    "UPPER": "id",
}


#: what has an order, so that its largest value is asked for
ORDERED = ["flag", "tiny", "small", "whole", "single", "double", "cents", "huge", "text", "fixed",
           "short", "bytes", "day", "moment", "local", "span", "clock"]  # fmt: skip
