#ifndef PMPS_DARWIN_CTYPE_H
#define PMPS_DARWIN_CTYPE_H

int isalnum(int character);
int isalpha(int character);
int isdigit(int character);
int isspace(int character);
int isxdigit(int character);
int tolower(int character);
int toupper(int character);

#endif
