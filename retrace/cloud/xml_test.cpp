#include "retrace/cloud/xml.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

TEST(Xml, ElementsHaveTextsAndChildren) {
  const auto root = parse_xml(
      "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- list --><s3:List a='>' xmlns=\"x\">\n"
      "<Key>a &amp;&lt;&#x41;&#66;&#x20ac; &quot;b&apos;</Key><Key>second</Key><Empty/><Raw><![CDATA[<&amp;>]]>!</Raw "
      "></s3:List>\n");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "List");
  ASSERT_EQ(root->children.size(), 4u);
  EXPECT_EQ(root->text_of("Key"), "a &<AB\xe2\x82\xac \"b'");
  EXPECT_EQ(root->children[1].text, "second");
  EXPECT_EQ(root->text_of("Empty"), "");
  EXPECT_EQ(root->text_of("Raw"), "<&amp;>!");
  EXPECT_EQ(root->text_of("Absent"), "");
  EXPECT_EQ(root->child("Absent"), nullptr);
}

TEST(Xml, WhatIsNoDocumentIsNone) {
  for (const char* text : {"",
                           "text",
                           "<a>",
                           "<a></b>",
                           "<a/><b/>",
                           "</a>",
                           "<a>&unknown;</a>",
                           "<a>&amp</a>",
                           "<a>&#0;</a>",
                           "<a>&#xd800;</a>",
                           "<a>&#x110000;</a>",
                           "<a>&#99999999999;</a>",
                           "<a",
                           "<a b='",
                           "<>x</>",
                           "<a/>text",
                           "<!-- ",
                           "<a><![CDATA[x</a>",
                           "<?xml",
                           "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                           "<a><!DOCTYPE b></a>"})
    EXPECT_FALSE(parse_xml(text)) << text;
}

TEST(Xml, DepthHasALimit) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_TRUE(parse_xml(nested(32)));
  EXPECT_FALSE(parse_xml(nested(33)));
  EXPECT_FALSE(parse_xml(nested(1000000)));
}

}  // namespace
}  // namespace retrace
