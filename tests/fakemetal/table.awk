# table.awk - turns objc/testdata/selectors.tsv into the rows of table.c: class, kind, selector,
# result, arguments, first macOS, encoding.
BEGIN { FS = "\t" }
/^#/ || NF < 9 { next }
{
    since = $6
    sub(/^<=/, "", since)
    for (i = 1; i <= 9; i++) gsub(/\\/, "\\\\", $i)
    printf "{\"%s\", '%s', \"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", $1, $2, $3, $4, $5, since, $9
}
